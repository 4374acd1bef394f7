/**
 * Runs dynalite, an imitation of DynamoDB, on a free port and in memory, for as long as standard input stays open. Prints the
 * port when it answers.
 */

const dynalite = require("dynalite");

const server = dynalite({ createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 });
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
process.stdin.resume().on("end", () => process.exit(0));
