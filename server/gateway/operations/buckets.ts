/** ListBuckets and HeadBucket. */

import type { RepositoryInfo, Store } from "../../../drivers/store.ts";
import type { S3Call, S3Operation } from "../call.ts";
import { invalidArgument, placeOfToken, tokenOf } from "../encoding.ts";
import { OWNER } from "../owner.ts";
import { arnHeader, checkBucket, isBucketBranch } from "../places.ts";
import { REGION } from "../region.ts";
import { textElement, xmlResponse, xmlTime } from "../xml.ts";

const MOST_BUCKETS = 10_000;

export const listBuckets: S3Operation = async (call) => {
  const { query } = call.request;
  const prefix = query.get("prefix") ?? "", token = query.get("continuation-token");
  const after = token ? placeOfToken("continuation-token", token) : "";
  const most = mostBuckets(query.get("max-buckets"));
  let content = "", count = 0, last = "", isTruncated = false;
  for await (const { name, created } of bucketNames(call, { prefix, after })) {
    if (count === most) {
      isTruncated = true;
      break;
    }
    count++;
    last = name;
    content += `<Bucket>${textElement("Name", name)}${
      textElement("CreationDate", xmlTime(created * 1000))
    }</Bucket>`;
  }
  return xmlResponse(
    "ListAllMyBucketsResult",
    `${OWNER}<Buckets>${content}</Buckets>` + textElement("Prefix", prefix || undefined) +
      (isTruncated ? textElement("ContinuationToken", tokenOf(last)) : ""),
  );
};

function mostBuckets(asked: string | undefined): number {
  if (asked === undefined) return MOST_BUCKETS;
  const count = /^[0-9]{1,5}$/.test(asked) ? Number(asked) : 0;
  if (count >= 1 && count <= MOST_BUCKETS) return count;
  const why = `Argument max-buckets must be an integer between 1 and ${MOST_BUCKETS}.`;
  throw invalidArgument("max-buckets", asked, why);
}

export const headBucket: S3Operation = async (call) => {
  await checkBucket(call);
  const headers = { "x-amz-bucket-region": REGION, ...arnHeader(call.request.bucket!) };
  return new Response(null, { status: 200, headers });
};

interface Bucket {
  readonly name: string;
  /** Seconds since the epoch. */
  readonly created: number;
}

/** Yields the buckets whose names are after a mark, in the order of their names. */
async function* bucketNames(
  { store, context }: S3Call,
  { prefix, after }: { readonly prefix: string; readonly after: string },
): AsyncGenerator<Bucket> {
  const isWanted = ({ name }: Bucket) => name.startsWith(prefix) && name > after;
  if (context.s3.buckets === "repository") {
    const from = { prefix, ...(after === "" ? {} : { after }) };
    for await (const page of store.listRepositories(from)) yield* page.map(repositoryBucket);
    return;
  }
  // All of them are looked at: the branches of one repository stand apart from each other in the order of buckets.
  const found: Bucket[] = [];
  for await (const page of store.listRepositories()) {
    for (const info of page) {
      for await (const bucket of branchBuckets(store, info)) if (isWanted(bucket)) found.push(bucket);
    }
  }
  yield* found.sort((a, b) => a.name < b.name ? -1 : 1);
}

/** Yields the buckets of a repository, where buckets are branches. */
async function* branchBuckets(store: Store, info: RepositoryInfo): AsyncGenerator<Bucket> {
  const { id, creationDate, defaultBranch } = info;
  yield repositoryBucket(info);
  for await (const page of store.listBranches(id)) {
    for (const branch of page) {
      if (branch.id === defaultBranch || branch.isHidden || !isBucketBranch(id, branch.id)) continue;
      yield { name: `${branch.id}.${id}`, created: creationDate };
    }
  }
}

function repositoryBucket({ id, creationDate }: RepositoryInfo): Bucket {
  return { name: id, created: creationDate };
}
