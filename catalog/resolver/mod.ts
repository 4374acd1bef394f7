/** The resolver's face. */

export { type VersionsIn, versionsIn } from "./placing.ts";
export { type Resolver, TemplateResolver } from "./resolver.ts";
export type { LogicalSide, Resolution } from "./resolving.ts";
