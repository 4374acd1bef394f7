/** The face of the DynamoDB driver. */

export { type DynamoOptions, openDynamo } from "./dynamodb.ts";
