/** The part of the AWS SDK that the driver uses, in our words: its own types take seconds to check. */

/** A value in DynamoDB: bytes are all that we keep. */
export interface Attribute {
  readonly B: Uint8Array;
}

export type Item = Readonly<Record<string, Attribute>>;

/** What a write of a batch is. */
export type BatchedWrite =
  | { readonly PutRequest: { readonly Item: Item } }
  | { readonly DeleteRequest: { readonly Key: Item } };

export interface QueryOutput {
  readonly Items?: readonly Item[];
  readonly LastEvaluatedKey?: Item;
}

interface Expressions {
  readonly TableName: string;
  readonly ExpressionAttributeValues?: Item;
}

/** The calls of the service; names are its own. */
export interface DynamoClient {
  getItem(
    input: { TableName: string; Key: Item; ConsistentRead: true; ProjectionExpression?: string },
  ): Promise<{ readonly Item?: Item }>;
  putItem(input: Expressions & { Item: Item; ConditionExpression?: string }): Promise<unknown>;
  updateItem(input: Expressions & { Key: Item; UpdateExpression: string }): Promise<unknown>;
  deleteItem(input: Expressions & { Key: Item; ConditionExpression: string }): Promise<unknown>;
  batchWriteItem(
    input: { RequestItems: Readonly<Record<string, readonly BatchedWrite[]>> },
  ): Promise<{ readonly UnprocessedItems?: Readonly<Record<string, readonly BatchedWrite[]>> }>;
  query(
    input: Expressions & {
      KeyConditionExpression: string;
      ConsistentRead: true;
      Limit: number;
      ExclusiveStartKey?: Item;
    },
  ): Promise<QueryOutput>;
  scan(
    input: {
      TableName: string;
      ConsistentRead: true;
      ProjectionExpression: string;
      ExclusiveStartKey?: Item;
    },
  ): Promise<QueryOutput>;
  createTable(input: Readonly<Record<string, unknown>>): Promise<unknown>;
  describeTable(
    input: { TableName: string },
  ): Promise<{ readonly Table?: { readonly TableStatus?: string } }>;
  destroy(): void;
}

export interface DynamoConfig {
  readonly region?: string;
  readonly endpoint?: string;
  readonly profile?: string;
  /** One: whoever tries again has to know what may have landed. */
  readonly maxAttempts: 1;
  readonly requestHandler: {
    readonly connectionTimeout: number;
    readonly requestTimeout: number;
    /** Otherwise it only warns. */
    readonly throwOnRequestTimeout: true;
  };
}

interface DynamoModule {
  readonly DynamoDB: new (config: DynamoConfig) => DynamoClient;
}

/** Loads the SDK, when a store is opened and not before, and makes a client. */
export async function loadDynamo(config: DynamoConfig): Promise<DynamoClient> {
  const loaded = await import("@aws-sdk/client-dynamodb") as unknown as DynamoModule;
  return new loaded.DynamoDB(config);
}
