/** The engine's face: Graveler as a store. */

export { openEngineStore } from "./store.ts";
export type { EngineContext } from "./repository.ts";
