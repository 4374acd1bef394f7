/** What the work of a client stands on. */

import type { Chance } from "../../tests/simulation/chance.ts";
import type { Answer, Api, Write } from "./api.ts";
import type { Content, Contents } from "./contents.ts";

export interface Hands {
  readonly name: string;
  readonly api: Api;
  readonly chance: Chance;
  readonly contents: Contents;
  /** A text that nothing else bears. */
  label(): string;
}

/** A write as it is asked for, and what is compared when it is done. */
export type Asked = Omit<Write, "done" | "doubt" | "refused"> & {
  done?(answer: Answer): void | Promise<void>;
};

/** Draws one of a few dozen paths in a folder. */
export function drawPath(chance: Chance, folder: string): string {
  return `${folder}${chance.oneOf(["a", "b", "c d", "é"])}/k${chance.below(12)}`;
}

/** Asks for the upload of an object: as a raw body, or as a form. */
export function askUpload(
  branch: string,
  { path, content, isForm }: { path: string; content: Content; isForm: boolean },
): Asked {
  const form = new FormData();
  if (isForm) form.append("content", new Blob([content.text]), "f");
  return {
    method: "POST",
    path: `/branches/${branch}/objects?path=${encodeURIComponent(path)}`,
    body: isForm ? form : content.text,
    headers: { "x-lakefs-meta-label": content.label },
    status: 201,
  };
}

export function askRemoval(branch: string, path: string): Asked {
  return {
    method: "DELETE",
    path: `/branches/${branch}/objects?path=${encodeURIComponent(path)}`,
    status: 204,
  };
}
