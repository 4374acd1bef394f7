/** `version`: which program this is, where its home is, and what its key-value store is. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { CodedError } from "../../base/errors.ts";
import type { FoundHome } from "../../catalog/home.ts";
import { runtimeName } from "../../base/platform.ts";
import description from "../../package.json" with { type: "json" };
import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";

export async function run(context: Context): Promise<number> {
  const { arguments: given, output } = context;
  if (given.flag("licenses")) return await showLicenses(context);
  const { version } = description;
  const runtime = runtimeName();
  const platform = `${process.platform}-${process.arch}`;
  const home = await homeOf(context);
  const kv = home.found && await kvOf(context, home.found);
  output.result(
    { version, runtime, platform, home: home.folder ?? null, home_state: home.state, kv: kv ?? null },
    [
      `tarn ${version} (${runtime}, ${platform})`,
      `home: ${home.folder ? `${output.shown(home.folder)} ` : ""}(${output.shown(home.text)})`,
      ...(kv ? [`kv: ${output.shown(kv.address ?? `unusable: ${kv.problem}`)}`] : []),
    ].join("\n"),
  );
  return EXIT_OK;
}

interface KvState {
  readonly driver?: string;
  /** Without a password. */
  readonly address?: string;
  readonly problem?: string;
}

/** Names the key-value store, which is not opened; nothing is loaded for that of most homes. */
async function kvOf({ session }: Context, home: FoundHome): Promise<KvState | undefined> {
  try {
    const options = await session.options(home);
    if (!options.kv && !existsSync(join(home.folder, "config.yaml"))) {
      return home.ready ? { driver: "lmdb", address: `lmdb:${join(home.folder, "kv")}` } : undefined;
    }
    const [{ kvAddressOf }, { shownKvAddress }] = await Promise.all([
      import("../../catalog/registry.ts"),
      import("../../catalog/kv_address.ts"),
    ]);
    const named = await kvAddressOf(home.ready ? home.folder : undefined, options);
    if (!named && !home.ready) return undefined;
    const address = named ?? { driver: "lmdb", folder: join(home.folder, "kv") };
    return { driver: address.driver, address: shownKvAddress(address) };
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    return { problem: error.message };
  }
}

interface HomeState {
  readonly folder?: string;
  readonly found?: FoundHome;
  readonly state: "ready" | "not made yet" | "unusable";
  readonly text: string;
}

/** Whatever is wrong with the home, this verb says so and works. */
async function homeOf({ session }: Context): Promise<HomeState> {
  try {
    const found = await session.found();
    const { folder, ready } = found;
    return ready ? { folder, found, state: "ready", text: "ready" } : {
      folder,
      found,
      state: "not made yet",
      text: "not made yet: the first command that writes makes it",
    };
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    return { state: "unusable", text: `unusable: ${error.message}` };
  }
}

async function showLicenses({ output }: Context): Promise<number> {
  const { licenseTexts } = await import("../licenses.ts");
  const texts = licenseTexts();
  output.result(
    texts,
    texts.map(({ name, license, text }) => `==== ${name} (${license})\n\n${text.trimEnd()}\n`).join("\n"),
  );
  return EXIT_OK;
}
