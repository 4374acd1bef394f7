/** The face of the PostgreSQL driver. */

export { openPostgres, type PostgresOptions } from "./postgres.ts";
