/** Repositories. */

import { z } from "zod";
import { CodedError } from "../../base/errors.ts";
import { empty, json, notBuilt, operation } from "../operation.ts";
import { flag, metadata, pageJson, prefixedPaging, takePage } from "./schemas.ts";
import { servedRepositoryJson } from "./wire.ts";

const listRepositories = operation("listRepositories", {
  query: prefixedPaging.extend({ search: z.string().default("") }),
  async run({ store, query: { prefix, after, amount, search } }) {
    const all = store.listRepositories({ prefix, ...(after ? { after } : {}) });
    const { items, hasMore } = await takePage(search === "" ? all : matching(all, search), amount);
    return json(200, pageJson(items.map(servedRepositoryJson), { hasMore, nameOf: ({ id }) => String(id) }));
  },
});

const createRepository = operation("createRepository", {
  query: z.object({ bare: flag.default(false) }),
  body: z.object({
    name: z.string(),
    storage_id: z.string().optional(),
    storage_namespace: z.string(),
    default_branch: z.string().optional(),
    sample_data: z.boolean().optional(),
    read_only: z.boolean().optional(),
  }),
  async run({ store, query, body, user }) {
    if (query.bare) throw notBuilt("A bare repository");
    if (body.read_only) throw notBuilt("A read-only repository");
    const created = await store.createRepository(body.name, {
      storageNamespace: namespaceOf(body.storage_namespace),
      defaultBranch: body.default_branch || undefined,
      committer: user,
    });
    if (body.sample_data) await (await import("../samples/mod.ts")).addSamples(store, created, user);
    return json(201, servedRepositoryJson(created));
  },
});

const getRepository = operation("getRepository", {
  async run({ store, path }) {
    return json(200, servedRepositoryJson(await store.getRepository(path.repository)));
  },
});

const deleteRepository = operation("deleteRepository", {
  query: z.object({ force: flag.default(false) }),
  async run({ store, path }) {
    await store.deleteRepository(path.repository);
    return empty();
  },
});

const getRepositoryMetadata = operation("getRepositoryMetadata", {
  async run({ store, path }) {
    return json(200, await store.getRepositoryMetadata(path.repository));
  },
});

const setRepositoryMetadata = operation("setRepositoryMetadata", {
  body: z.object({ metadata }),
  async run({ store, path, body }) {
    await store.changeRepositoryMetadata(path.repository, { set: body.metadata });
    return empty();
  },
});

const deleteRepositoryMetadata = operation("deleteRepositoryMetadata", {
  body: z.object({ keys: z.array(z.string()) }),
  async run({ store, path, body }) {
    await store.changeRepositoryMetadata(path.repository, { remove: body.keys });
    return empty();
  },
});

/**
 * A client names a place in the home's storage, never a folder of the server's machine: whoever may use the command line
 * there can make a repository anywhere. So `local:///NAME`, which clients make of our prefix and "/NAME", is
 * `local://NAME`, as with lakeFS. All else about namespaces the engine checks.
 */
function namespaceOf(namespace: string): string {
  const inside = namespace.replace(/^local:\/\/\/+/, "local://");
  if (inside !== "local://") return inside;
  throw new CodedError(
    "invalid",
    "invalid_storage_namespace",
    `Cannot use the storage namespace "${namespace}": through the API it must be local://NAME`,
  );
}

async function* matching<T extends { readonly id: string }>(
  pages: AsyncIterable<readonly T[]>,
  text: string,
): AsyncGenerator<readonly T[]> {
  for await (const page of pages) yield page.filter(({ id }) => id.includes(text));
}

export const REPOSITORY_OPERATIONS = [
  listRepositories,
  createRepository,
  getRepository,
  deleteRepository,
  getRepositoryMetadata,
  setRepositoryMetadata,
  deleteRepositoryMetadata,
];
