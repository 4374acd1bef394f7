import assert from "node:assert/strict";
import { test } from "node:test";
import { isS3Request } from "./recognize.ts";

const HOSTS = new Set(["127.0.0.1", "data.example"]);
const AWS4 = "AWS4-HMAC-SHA256 Credential=x";

test("a request is S3's by its signature, its headers or its host, whatever its path", () => {
  const cases: readonly [isS3: boolean, path: string, headers: Record<string, string>][] = [
    [true, "/api/v1/repositories", { authorization: AWS4 }],
    [true, "/metrics", { authorization: AWS4 }],
    [true, "/repo/main/a", { authorization: "AWS key:signature" }],
    [true, "/repo/main/a?X-Amz-Signature=x", {}],
    [true, "/repo/main/a?a=1&x-amz-algorithm=x", {}],
    [true, "/repo/main/a?AWSAccessKeyId=x", {}],
    [true, "/repo/main/a", { "x-amz-content-sha256": "UNSIGNED-PAYLOAD" }],
    [true, "/repo/main/a", { "amz-sdk-invocation-id": "x" }],
    [true, "/", { host: "repo.localhost:8000" }],
    [true, "/", { host: "work.repo.data.example" }],
    [false, "/repo/main/a", { host: "localhost" }],
    [false, "/", { host: "data.example" }],
    [false, "/", { host: "repo.elsewhere.example" }],
    [false, "/", { host: ".localhost" }],
    [false, "/api/v1/repositories", { authorization: "Basic eDp5" }],
    [false, "/api/v1/repositories?x=X-Amz-Signature", { authorization: "Bearer x" }],
    [false, "/api/v1/repositories", { authorization: "Basic eDp5", host: "repo.localhost" }],
    [false, "/api/v1/repositories?prefix=x-amz-", {}],
  ];
  for (const [isS3, path, headers] of cases) {
    const request = new Request(`http://localhost${path}`, {
      headers: { host: "127.0.0.1:8000", ...headers },
    });
    assert.equal(isS3Request(request, HOSTS), isS3, `${path} ${JSON.stringify(headers)}`);
  }
});
