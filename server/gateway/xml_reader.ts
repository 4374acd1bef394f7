/** Reading the few documents that S3's clients send. No entity but XML's own five is known, and no document type is read. */

import { parseXml, XmlElement } from "@rgrove/parse-xml";
import { tryUtf8Text } from "../../base/bytes.ts";
import { S3Error } from "./errors.ts";

/** An element of a document, by the names of what it holds; prefixes of namespaces are passed over. */
export class XmlNode {
  readonly #element: XmlElement;

  constructor(element: XmlElement) {
    this.#element = element;
  }

  /** Returns the elements of a name. */
  all(name: string): XmlNode[] {
    const found: XmlNode[] = [];
    for (const child of this.#element.children) {
      if (child instanceof XmlElement && localName(child) === name) found.push(new XmlNode(child));
    }
    return found;
  }

  /** Returns the text of the only element of a name; `undefined` when there is none. Fails with `MalformedXML`. */
  text(name: string): string | undefined {
    const found = this.all(name);
    if (found.length > 1) throw new S3Error("MalformedXML");
    return found[0] && found[0].#element.text;
  }
}

/** Returns the root of a document. Fails with `MalformedXML`. */
export function readXml(bytes: Uint8Array, root: string): XmlNode {
  const text = tryUtf8Text(bytes);
  const element = text === undefined ? undefined : parsed(text);
  if (!element || localName(element) !== root) throw new S3Error("MalformedXML");
  return new XmlNode(element);
}

function parsed(text: string): XmlElement | undefined {
  try {
    return parseXml(text).root ?? undefined;
  } catch {
    // No XML, or nested so deep that no client of S3 sent it.
    return undefined;
  }
}

function localName({ name }: XmlElement): string {
  return name.slice(name.indexOf(":") + 1);
}
