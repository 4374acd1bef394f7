/** What the clients of a simulation ask for: each operation with what has become of it. */

/** A `relaxedWrite` stages an object that nobody has flushed, as a server does that promises no more than that. */
export type Task =
  | {
    readonly kind: "write";
    readonly branch: string;
    readonly files: Readonly<Record<string, string | undefined>>;
  }
  | {
    readonly kind: "writeIfAbsent" | "relaxedWrite";
    readonly branch: string;
    readonly path: string;
    readonly text: string;
  }
  | { readonly kind: "read" | "stat"; readonly ref: string; readonly path: string }
  | {
    readonly kind: "list";
    readonly ref: string;
    readonly prefix: string;
    readonly delimiter: string;
    readonly amount: number;
  }
  | { readonly kind: "status"; readonly branch: string }
  | {
    readonly kind: "commit";
    readonly branch: string;
    readonly paths?: readonly string[];
    readonly allowEmpty: boolean;
  }
  | {
    readonly kind: "merge";
    readonly branch: string;
    readonly source: string;
    readonly strategy?: "source-wins" | "dest-wins";
    readonly squash: boolean;
    readonly keepStaged: boolean;
  }
  | {
    readonly kind: "revert" | "cherryPick";
    readonly branch: string;
    readonly commit: string;
    readonly parent: number;
  }
  | { readonly kind: "reset"; readonly branch: string; readonly path?: string; readonly prefix?: string }
  | { readonly kind: "hardReset"; readonly branch: string; readonly ref: string }
  | { readonly kind: "createBranch" | "createTag"; readonly name: string; readonly source: string }
  | { readonly kind: "deleteBranch" | "restoreBranch" | "deleteTag" | "restoreTag"; readonly name: string }
  | { readonly kind: "log" | "reflog" | "resolve"; readonly ref: string }
  | { readonly kind: "branches" };

export type TaskKind = Task["kind"];

export type Outcome = "running" | "acknowledged" | "failed" | "unknown";

/** What a write has come to under one path. */
export interface Write {
  /** Whether its record was put where it counts, or was dropped from there before it was acknowledged. */
  fate: "pending" | "live" | "lost";
  /** Where it was put last. */
  slot?: Slot;
}

/** A record in a token. */
export interface Slot {
  /** `null` for a deletion. */
  readonly text: string | null;
  /** Whether power loss may take the object: nobody has flushed it before he staged it. */
  readonly isUnflushed: boolean;
  /** Whose write it is. */
  operation: Operation | undefined;
}

export interface Operation {
  readonly id: string;
  readonly task: Task;
  readonly startedAt: number;
  endedAt?: number;
  outcome: Outcome;
  /** The commit that it moved a branch to, or that the branch stayed at. */
  landed?: string;
  /** Whether a ref was created, deleted or restored by it. */
  hasChangedRef: boolean;
  readonly writes: Map<string, Write>;
}

export function newOperation(id: string, task: Task, startedAt: number): Operation {
  const writes = new Map<string, Write>();
  if (task.kind === "write") {
    for (const path of Object.keys(task.files)) writes.set(path, { fate: "pending" });
  }
  if (task.kind === "writeIfAbsent" || task.kind === "relaxedWrite") {
    writes.set(task.path, { fate: "pending" });
  }
  return { id, task, startedAt, outcome: "running", hasChangedRef: false, writes };
}

/** What a simulation stops with: something that the rules do not allow. */
export class SimulationFailure extends Error {
  override readonly name = "SimulationFailure";
}

export function fail(message: string): never {
  throw new SimulationFailure(message);
}
