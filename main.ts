import process from "node:process";
import { setTimeout } from "node:timers";
import { compileAsUsual } from "./base/platform.ts";
import { main } from "./cli/main.ts";

/** What a command runs that ends before is not worth compiling; the executable begins with a runtime that holds back with it. */
const SHORT_MS = 40;

setTimeout(compileAsUsual, SHORT_MS).unref();
main(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
});
