/** The face of hooks: what they are, and how they are run. */

export { addProcessHooks, Hooks } from "./chain.ts";
export type { LogRecord } from "./built_in.ts";
export { BUILT_IN_HOOKS, type HookPlaces, loadHooks, whyNoHook } from "./load.ts";
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
