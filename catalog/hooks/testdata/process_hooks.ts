/** A process with a hook of its own, and a catalog whose caller would rather be without it. Prints what the hook saw. */

import { addProcessHooks, Hooks } from "../mod.ts";

const seen: string[] = [];
addProcessHooks({
  name: "guard",
  run: (request, next) => {
    seen.push(`${request.spot} ${request.physical}`);
    if (request.physical?.startsWith("secret:")) throw new Error("not this one");
    return next();
  },
});

const request = { spot: "fetch", session: "s", principal: "ann", physical: "open://x" } as const;
const terminal = async () => "/real";
const attempts = {
  alone: new Hooks({}),
  answering: new Hooks({ caller: [{ name: "a", run: () => "/forged" }] }),
  moving: new Hooks({
    caller: [{ name: "m", run: (request, next) => next({ ...request, physical: "secret://x" }) }],
  }),
};
for (const [name, hooks] of Object.entries(attempts)) {
  const result = await hooks.run(request, terminal).catch((error: Error) => error.message);
  seen.push(`${name}: ${result}`);
}
console.log(JSON.stringify(seen));
