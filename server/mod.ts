/** The server's face: what `tarn serve` and `tarn auth` start. */

export { Auth, checkSecretKey, type NewCredential } from "./auth/mod.ts";
export { type ListenAddress, parseHostName, parseListenAddress, shownAddress } from "./listen.ts";
export { Log, type LogLevel } from "./log.ts";
export { checkServing, type RunningServer, startServer } from "./server.ts";
