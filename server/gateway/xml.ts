/** Writing XML as S3 does: elements and text, no attributes but the namespace. */

export const S3_NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/";

/** What every document begins with. */
export const XML_DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n';
// What XML 1.0 knows no way to write is written as S3 writes it; clients that may meet such keys ask for encoding-type=url.
const SPECIAL = /[&<>"\u0000-\u001f\u007f-\u009f\ufffe\uffff]/;
const UNREADABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;
const EACH_SPECIAL = new RegExp(SPECIAL.source, "g");
const NAMED: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Returns text as it stands in an element. */
export function xmlText(text: string): string {
  if (!SPECIAL.test(text)) return text;
  return text.replace(
    EACH_SPECIAL,
    (one) => NAMED[one] ?? `&#x${one.charCodeAt(0).toString(16).toUpperCase()};`,
  );
}

/** Returns an element that holds text; nothing when there is none. */
export function textElement(name: string, text: string | number | boolean | undefined): string {
  return text === undefined ? "" : `<${name}>${xmlText(String(text))}</${name}>`;
}

/** Returns a document whose root, in S3's namespace, holds `content`, which is XML. */
export function xmlDocument(root: string, content: string): string {
  return `${XML_DECLARATION}<${root} xmlns="${S3_NAMESPACE}">${content}</${root}>`;
}

/** Answers with a document in S3's namespace. */
export function xmlResponse(root: string, content: string, headers: Record<string, string> = {}): Response {
  return new Response(xmlDocument(root, content), {
    status: 200,
    headers: { "content-type": "application/xml", ...headers },
  });
}

/** Returns the document of a failure, which has no namespace. It repeats what was sent, and must be read whatever that was. */
export function errorDocument(fields: Readonly<Record<string, string | undefined>>): string {
  const content = Object.entries(fields)
    .map(([name, text]) => textElement(name, text?.replaceAll(UNREADABLE, "\ufffd"))).join("");
  return `${XML_DECLARATION}<Error>${content}</Error>`;
}

/** Returns a time as S3's documents have it. */
export function xmlTime(ms: number): string {
  return new Date(ms).toISOString();
}
