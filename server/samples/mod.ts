/**
 * What a repository with sample data begins with. Names and columns are those of lakeFS's own sample, which its guides
 * and the suites of its clients read; what stands in it is ours, and the same every time.
 */

import { utf8 } from "../../base/bytes.ts";
import { seededRandomness } from "../../base/randomness.ts";
import type { RepositoryInfo, Store } from "../../drivers/store.ts";
import { lakesParquet } from "./lakes.ts";
import { lakePicture } from "./pictures.ts";

const SEED = 1937;
const PICTURES = 29;

/** Commits the sample data on the default branch of a repository that is empty. */
export async function addSamples(
  store: Store,
  { id: repository, defaultBranch }: RepositoryInfo,
  committer: string,
): Promise<void> {
  const randomness = seededRandomness(SEED);
  const writer = await store.writer(repository, defaultBranch);
  const put = async (path: string, contentType: string, bytes: Uint8Array) => {
    await writer.put(path, bytes, { contentType });
  };
  await put("README.md", "text/markdown", utf8(readMe(repository, defaultBranch)));
  await put("data/lakes.source.md", "text/markdown", utf8(SOURCE));
  await put("lakes.parquet", "application/vnd.apache.parquet", await lakesParquet(randomness));
  for (let number = 1; number <= PICTURES; number++) {
    const path = `images/lake-${String(number).padStart(2, "0")}.png`;
    await put(path, "image/png", lakePicture(randomness));
  }
  await writer.close();
  await store.commit(repository, defaultBranch, { message: "Add sample data", committer });
}

const SOURCE = `# Where lakes.parquet comes from

Nowhere: the lakes are made up, and so are the pictures in \`images/\`. The columns are those of a well-known
table, so that queries can be tried.
`;

function readMe(repository: string, branch: string): string {
  return `# ${repository}

Sample data to try things on: \`lakes.parquet\` is a table of 100,000 lakes that do not exist, \`images/\` has
pictures of some.

    tarn branch create lakefs://${repository}/try ${branch}
    tarn get lakefs://${repository}/try/lakes.parquet .
    tarn rm lakefs://${repository}/try/README.md
    tarn diff lakefs://${repository}/try
    tarn commit lakefs://${repository}/try -m "No need to read me"
    tarn merge lakefs://${repository}/try lakefs://${repository}/${branch}

In DuckDB, over S3: \`SELECT Country, count(*) FROM 's3://${repository}/${branch}/lakes.parquet' GROUP BY ALL\`.
`;
}
