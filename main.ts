import process from "node:process";
import { main } from "./cli/main.ts";

main(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
});
