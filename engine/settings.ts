/** The settings of repositories, as the store contract has them. */

import type { BranchProtection, GcRules, Settings } from "../drivers/settings.ts";
import { checkPatterns } from "./operations/protection.ts";
import { RepositorySettings } from "./refs/mod.ts";
import type { Repository } from "./repository.ts";

export class EngineSettings implements Settings {
  readonly #open: (repository: string) => Promise<Repository>;

  constructor(open: (repository: string) => Promise<Repository>) {
    this.#open = open;
  }

  async branchProtection(repository: string): Promise<BranchProtection> {
    return await settingsOf(await this.#open(repository)).branchProtection();
  }

  async setBranchProtection(repository: string, patterns: readonly string[], etag?: string): Promise<void> {
    const checked = checkPatterns(patterns);
    const opened = await this.#open(repository);
    await settingsOf(opened).setBranchProtection(checked, etag);
    await opened.checkLive();
  }

  async gcRules(repository: string): Promise<GcRules | undefined> {
    return await settingsOf(await this.#open(repository)).gcRules();
  }

  async setGcRules(repository: string, rules: GcRules | undefined): Promise<void> {
    const opened = await this.#open(repository);
    await settingsOf(opened).setGcRules(rules);
    await opened.checkLive();
  }
}

function settingsOf({ kv, partition }: Repository): RepositorySettings {
  return new RepositorySettings(kv, partition);
}
