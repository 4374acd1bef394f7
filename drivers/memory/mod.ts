/** Objects in this process's memory: for tests, and for repositories that need not outlive it. */

export { type MemoryObjectStoreOptions, openMemoryObjectStore } from "./object_store.ts";
