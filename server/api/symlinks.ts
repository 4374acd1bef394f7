/** Files that lead engines which read the storage themselves to a branch's objects. */

import { z } from "zod";
import { json, notBuilt, operation } from "../operation.ts";

const createSymlinkFile = operation("createSymlinkFile", {
  query: z.object({ location: z.string().default("") }),
  async run({ store, path, query }) {
    if (!store.writeSymlinks) throw notBuilt("operation createSymlinkFile");
    return json(201, { location: await store.writeSymlinks(path.repository, path.branch, query.location) });
  },
});

export const SYMLINK_OPERATIONS = [createSymlinkFile];
