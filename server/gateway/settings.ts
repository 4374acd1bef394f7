/** How a server's S3 gateway shows repositories: the section `s3` of its home's configuration. */

export interface S3Settings {
  /** Whether a bucket is a repository, and keys begin with a ref; or a bucket is a branch. */
  readonly buckets: "repository" | "branch";
  /** When what was written through the gateway is committed without anybody asking: never, if there is none. */
  readonly autoCommit?: AutoCommitSettings;
}

export interface AutoCommitSettings {
  /** `idle`: once nothing was written to the branch for so long; `every`: so long after the first write that is not committed. */
  readonly when: "idle" | "every";
  readonly seconds: number;
}

export const DEFAULT_S3: S3Settings = { buckets: "repository" };
