export { openMemoryKv } from "./memory.ts";
