/** The titles of the tests in a file, as its source has them. */

/**
 * Returns whether a test file has a test of that title: one that is written so, or one that is put together from a template
 * whose every value stands in the source.
 */
export function hasTest(source: string, title: string): boolean {
  const quoted = [`"${title}"`, `'${title}'`, `\`${title}\``, JSON.stringify(title)];
  if (quoted.some((text) => source.includes(text))) return true;
  return templatesOf(source).some((template) => {
    const values = new RegExp(`^${template}$`, "s").exec(title)?.slice(1);
    return values?.every((value) => value !== "" && source.includes(value)) ?? false;
  });
}

/** Returns the templates that are titles, as patterns with a group for each value. */
function templatesOf(source: string): string[] {
  return [...source.matchAll(/\b(?:it|test)\(\s*`((?:[^`\\]|\\.)*)`/g)].map(([, template]) =>
    template!.split(/\$\{(?:[^{}]|\{[^{}]*\})*\}/).map(escaped).join("(.+)")
  ).filter((pattern) => pattern.includes("(.+)"));
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
