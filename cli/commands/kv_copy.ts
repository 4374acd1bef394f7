/** `kv copy`: one key-value store into another. */

import { join } from "node:path";
import { type KvAddress, parseKvAddress, shownKvAddress } from "../../catalog/kv_address.ts";
import { type KvOptions, openHomeStore, openKv } from "../../catalog/registry.ts";
import { refuseKvPlace } from "../../catalog/kv_places.ts";
import { namespacesElsewhere } from "../../catalog/namespace.ts";
import { CodedError } from "../../base/errors.ts";
import { copyKv } from "../../kv/copy.ts";
import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";
import { counted, humanSize } from "../render/sizes.ts";

export async function run(context: Context): Promise<number> {
  const { arguments: given, environment, messages, output } = context;
  const [source, target] = given.positionals.map((text) =>
    addressOf(text, environment.homePlaces(undefined))
  );
  const options = {
    nativeFolders: [join(environment.cacheFolder(), "native")],
    allowNetwork: environment.allowsNetworkFileSystems(),
    variable: environment.variable,
  };
  await refuseTarget(context, { source: source!, target: target!, options });
  const from = await openKv(source!, { ...options, readOnly: true });
  try {
    const to = await openKv(target!, options);
    try {
      const counts = await copyKv(from, to, {
        onProgress: (pass, { entries, bytes }) =>
          messages.progress(() =>
            `${pass === "copying" ? "Copying" : "Comparing"}: ${counted(entries, "entry", "entries")}, ${
              humanSize(bytes)
            }`
          ),
      });
      messages.endProgress();
      const [shownFrom, shownTo] = [shownKvAddress(source!), shownKvAddress(target!)];
      const { partitions, entries, bytes } = counts;
      output.result(
        { from: shownFrom, to: shownTo, partitions, entries, size_bytes: bytes },
        `Copied ${counted(entries, "entry", "entries")} (${humanSize(bytes)}) in ${
          counted(partitions, "partition")
        } from ${output.shown(shownFrom)} to ${output.shown(shownTo)}, and compared each`,
      );
      return EXIT_OK;
    } finally {
      await to.close();
    }
  } finally {
    await from.close();
  }
}

/** Fails with `own_storage` where other things of tarn's lie, by what this home and the source know of that. */
async function refuseTarget(
  { session }: Context,
  { source, target, options }: { source: KvAddress; target: KvAddress; options: KvOptions },
): Promise<void> {
  if (target.driver !== "lmdb") return;
  const copied = await openHomeStore(undefined, { ...options, kv: source, makesKv: false });
  try {
    const namespaces = [...await session.namespaces(), ...await namespacesElsewhere(copied)];
    refuseKvPlace(target.folder, namespaces);
  } finally {
    await copied.close();
  }
}

/** Arguments are seen by others on the machine, and kept in the shell's history. */
function addressOf(text: string, { workingFolder }: { workingFolder: string }): KvAddress {
  const address = parseKvAddress(text, workingFolder);
  if (address.driver !== "postgres" || address.password === undefined) return address;
  throw new CodedError(
    "invalid",
    "secret_in_argument",
    `Cannot use "${shownKvAddress(address)}": a password may not stand in an argument`,
  );
}
