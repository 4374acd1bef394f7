/** The part of the package `pg` that the driver uses. It brings no types of its own. */

export type Parameter = Uint8Array | readonly Uint8Array[] | string | number | Date | undefined;

export interface PgResult {
  readonly rows: readonly (readonly unknown[])[];
  /** The rows that a write has touched. */
  readonly rowCount: number | null;
}

export interface PgQuery {
  readonly text: string;
  /** Statements with a name are parsed once a connection. */
  readonly name?: string;
  readonly values?: readonly Parameter[];
  readonly rowMode: "array";
}

export interface PgClient {
  connect(): Promise<unknown>;
  query(query: PgQuery): Promise<PgResult>;
  end(): Promise<void>;
  on(event: "error" | "end", listener: (error?: unknown) => void): unknown;
  readonly connection: { readonly stream: { destroy(error?: Error): void } };
}

export interface PgConfig {
  readonly host: string;
  readonly port: number;
  readonly user?: string;
  readonly password?: string;
  readonly database: string;
  readonly ssl: false | { readonly rejectUnauthorized: boolean; readonly ca?: string };
  readonly connectionTimeoutMillis: number;
  readonly keepAlive: boolean;
  readonly application_name: string;
  /** How the text of each type is read. */
  readonly types: { getTypeParser(type: number): (text: string) => unknown };
}

export interface PgModule {
  readonly Client: new (config: PgConfig) => PgClient;
}

/** Loads the package: when a store is opened, not before. */
export async function loadPg(): Promise<PgModule> {
  const loaded = await import("pg") as unknown as { readonly default: PgModule };
  return loaded.default;
}
