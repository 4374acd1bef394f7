/** The region that the gateway is in, for clients that ask: requests may be signed for any. */

export const REGION = "us-east-1";
