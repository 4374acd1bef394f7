/** `bisect run`: finds the first bad commit by running a command for some of those in between. */

import { commitJson } from "../../drivers/store.ts";
import { CodedError } from "../../base/errors.ts";
import type { CommitInfo } from "../../drivers/store.ts";
import { bisect, boundsOf, candidatesOf, type Verdict } from "../bisection.ts";
import type { Context } from "../context.ts";
import { EXIT_NO, EXIT_OK } from "../exit_codes.ts";
import { refUri } from "../locations.ts";
import { runProgram } from "../programs.ts";
import { commitText } from "../render/commits.ts";
import { counted } from "../render/sizes.ts";

const EXIT_SKIP = 125;
/** Beyond are the codes that shells give to what a signal ended. */
/** A shell exits with 126 and 127 when what it should run cannot be run: that says nothing of the commit. */
const LAST_EXIT_BAD = 124;

export async function run(context: Context): Promise<number> {
  const { arguments: given, environment, messages, output, session } = context;
  const bounds = boundsOf(given);
  const command = given.positionals.slice(1);
  const { good, candidates } = await candidatesOf(await session.store(), bounds);
  const home = session.home;
  // The command may take long, and may use the home itself.
  await session.close();
  const tested: { commit: CommitInfo; verdict: Verdict }[] = [];
  const { firstBad } = await bisect(candidates, async (commit, left) => {
    const subject = commit.message.split("\n")[0];
    messages.note(`Testing ${commit.id.slice(0, 12)}, one of ${counted(left, "commit")}: ${subject}`);
    const exitCode = await runProgram(command, {
      environment: environment.withVariables({
        TARN_COMMIT: commit.id,
        TARN_URI: refUri(bounds.repository, commit.id),
        ...(home === undefined ? {} : { TARN_HOME: home }),
      }),
    });
    const verdict = verdictOf(exitCode, { command, commit });
    messages.note(`${commit.id.slice(0, 12)} is ${verdict === "skipped" ? "skipped" : verdict}`);
    tested.push({ commit, verdict });
    return verdict;
  });
  const [only, ...others] = firstBad;
  output.result(
    {
      first_bad: others.length === 0 ? commitJson(only!) : null,
      candidates: firstBad.map(({ id }) => id),
      good: good.id,
      bad: candidates.at(-1)!.id,
      tested: tested.map(({ commit, verdict }) => ({ commit_id: commit.id, verdict })),
    },
    firstBad.map((commit) =>
      output.terminal ? commitText(output, commit) : refUri(bounds.repository, commit.id)
    ).join("\n"),
  );
  if (others.length === 0) return EXIT_OK;
  messages.note(`It is one of ${counted(firstBad.length, "commit")}: those between could not be tested`);
  return EXIT_NO;
}

/** 0 is good, 125 cannot tell, other codes up to 124 are bad; beyond, the command failed, and says nothing. */
function verdictOf(
  exitCode: number | string,
  { command, commit }: { command: readonly string[]; commit: CommitInfo },
): Verdict {
  if (exitCode === 0) return "good";
  if (exitCode === EXIT_SKIP) return "skipped";
  if (typeof exitCode === "number" && exitCode <= LAST_EXIT_BAD) return "bad";
  const how = typeof exitCode === "number" ? `exit code ${exitCode}` : `signal ${exitCode}`;
  throw new CodedError(
    "invalid",
    "command_failed",
    `Cannot bisect: "${command[0]}" ended with ${how} for commit ${commit.id.slice(0, 12)}`,
    { details: { command, commit: commit.id, exit_code: exitCode } },
  );
}
