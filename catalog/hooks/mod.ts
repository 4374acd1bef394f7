/** The face of hooks: what they are, and how they are run. */

export { addProcessHooks, Hooks } from "./chain.ts";
export type { LogRecord } from "./built_in.ts";
export { type HookPlaces, loadHooks } from "./load.ts";
export {
  type Hook,
  type HookFunction,
  type HookRequest,
  type Next,
  type OpenedFile,
  type Spot,
  type SpotAnswers,
  SPOTS,
} from "./spots.ts";
