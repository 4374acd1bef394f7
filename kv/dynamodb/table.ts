/**
 * The layout of the table, and the table's making.
 *
 * ```
 * p  bytes  the partition: DynamoDB's partition key, so partitions are spread over the service's own
 * k  bytes  the key: its sort key, at most 1,024 bytes there and here, ordered by its bytes
 * d  bytes  the value; left out when it is empty
 * v  bytes  the version of the write that made the item what it is (`../versions.ts`)
 * r  bytes  the version before that; left out when it is not known
 * ```
 *
 * An item is 256 KiB of value and less than 2 KiB of all else: DynamoDB takes 400 KB.
 */

import { EMPTY_BYTES } from "../../base/bytes.ts";
import type { Clock } from "../../base/clock.ts";
import { CodedError } from "../../base/errors.ts";
import { isNamed } from "./errors.ts";
import type { DynamoClient, Item } from "./vendor.ts";

const WAIT_MS = 500;
const MOST_WAITS = 240;

/** Returns the primary key of an item. */
export function keyOf(partition: Uint8Array, key: Uint8Array): Item {
  return { p: { B: partition }, k: { B: key } };
}

/** Returns the attributes that hold a value. */
export function dataOf(value: Uint8Array): Item {
  return value.length > 0 ? { d: { B: value } } : {};
}

/** Returns an attribute's bytes as a plain array of the caller's own; those of a missing one are none. */
export function bytesOf(item: Item, name: string): Uint8Array {
  return new Uint8Array(item[name]?.B ?? EMPTY_BYTES);
}

/** Makes the table, paid by request, and waits until it can be used. Others may make it at the time. */
export async function makeTable(client: DynamoClient, table: string, clock: Clock): Promise<void> {
  try {
    await client.createTable({
      TableName: table,
      BillingMode: "PAY_PER_REQUEST",
      AttributeDefinitions: [{ AttributeName: "p", AttributeType: "B" }, {
        AttributeName: "k",
        AttributeType: "B",
      }],
      KeySchema: [{ AttributeName: "p", KeyType: "HASH" }, { AttributeName: "k", KeyType: "RANGE" }],
    });
  } catch (error) {
    if (!isNamed(error, "ResourceInUseException")) throw error;
  }
  for (let waits = 0; waits < MOST_WAITS; waits++) {
    if (await isActive(client, table)) return;
    await clock.sleep(WAIT_MS);
  }
  throw new CodedError(
    "unavailable",
    "kv_unavailable",
    `Cannot use the key-value store: the table "${table}" is not made in time`,
  );
}

async function isActive(client: DynamoClient, table: string): Promise<boolean> {
  try {
    return (await client.describeTable({ TableName: table })).Table?.TableStatus === "ACTIVE";
  } catch (error) {
    // A table that was just made need not be known everywhere yet.
    if (isNamed(error, "ResourceNotFoundException")) return false;
    throw error;
  }
}
