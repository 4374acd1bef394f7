/** Who may ask, and in which words one who may not is told so. Requests go over the wire as they stand here. */

import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { describe, it } from "node:test";
import { lossyText } from "../../base/bytes.ts";
import {
  exchange,
  type S3Answer,
  type S3SendOptions,
  signed,
  type TestGateway,
  testGateway,
} from "./testing.ts";

const TARGET = "/repo/main/a.txt";

/** Signs a request as `admin`, lets it be changed, and sends it. */
async function sendChanged(
  { port, admin, context }: TestGateway,
  change: (request: { target: string; headers: Record<string, string> }) => void,
  { method = "GET", target = TARGET, atMs = context.clock.now(), ...options }: S3SendOptions & {
    method?: string;
    target?: string;
    atMs?: number;
  } = {},
): Promise<S3Answer> {
  const request = signed({ method, target, port, credential: admin, nowMs: atMs }, options);
  change(request);
  const { body = "" } = options;
  return await exchange(port, {
    method,
    ...request,
    body: typeof body === "string" ? Buffer.from(body) : body,
  });
}

/** Changes the `Authorization` header. */
function authorized(change: (header: string) => string) {
  return ({ headers }: { headers: Record<string, string> }) => {
    headers["authorization"] = change(headers["authorization"]!);
  };
}

/** Replaces the value of a parameter, or takes it away. */
function parameter(name: string, value?: string) {
  return (request: { target: string }) => {
    const pattern = new RegExp(`${name}=[^&]*`);
    assert.match(request.target, pattern);
    request.target = value === undefined
      ? request.target.replace(new RegExp(`&?${name}=[^&]*`), "")
      : request.target.replace(pattern, `${name}=${value}`);
  };
}

/** Returns the text of an element, of which the characters that XML has names for are written so. */
function textIn(answer: S3Answer, element: string): string {
  return answer.all(element)[0]!.replaceAll("&quot;", '"').replaceAll("&#xA;", "\n").replaceAll("&amp;", "&");
}

function assertRefused(answer: S3Answer, [status, code, message]: readonly [number, string, RegExp?]): void {
  assert.deepEqual([answer.status, answer.code], [status, code], answer.text);
  if (message) assert.match(textIn(answer, "Message"), message);
}

describe("a signature", () => {
  it("must be there", async (t) => {
    const { s3 } = await testGateway(t);
    for (const name of ["x-amz-date", "x-amz-content-sha256", "amz-sdk-invocation-id"]) {
      const answer = await s3("GET", TARGET, { credential: null, headers: { [name]: "x" } });
      assertRefused(answer, [403, "AccessDenied"]);
    }
  });

  it("must be by a key that we know, and by its secret", async (t) => {
    const { s3, admin } = await testGateway(t);
    const unknown = { accessKeyId: "TARNUNKNOWN", secretAccessKey: admin.secretAccessKey };
    const answer = await s3("GET", TARGET, { credential: unknown });
    assertRefused(answer, [403, "InvalidAccessKeyId"]);
    assert.deepEqual(answer.all("AWSAccessKeyId"), ["TARNUNKNOWN"]);
    const wrong = { accessKeyId: admin.accessKeyId, secretAccessKey: `${admin.secretAccessKey}a` };
    const other = await s3("GET", TARGET, { credential: wrong });
    assertRefused(other, [403, "SignatureDoesNotMatch"]);
    assert.match(textIn(other, "StringToSign"), /^AWS4-HMAC-SHA256\n/);
    assert.ok(!other.text.includes(admin.secretAccessKey));
    assertRefused(await s3("GET", TARGET, { credential: unknown, presignedSeconds: 60 }), [
      403,
      "InvalidAccessKeyId",
    ]);
  });

  it("ends with its key, at once", async (t) => {
    const { s3, auth } = await testGateway(t);
    const credential = await auth.users.createCredential("admin");
    assert.equal((await s3("GET", "/repo", { credential })).status, 200);
    await auth.users.deleteCredential("admin", credential.accessKeyId);
    assertRefused(await s3("GET", "/repo", { credential }), [403, "InvalidAccessKeyId"]);
  });

  it("is good for a quarter of an hour either way", async (t) => {
    const gateway = await testGateway(t);
    const now = gateway.context.clock.now(), minute = 60_000;
    for (
      const [minutes, code] of [[-14, undefined], [14, undefined], [-16, "RequestTimeTooSkewed"], [
        16,
        "RequestTimeTooSkewed",
      ]] as const
    ) {
      const answer = await sendChanged(gateway, () => {}, { target: "/repo", atMs: now + minutes * minute });
      assert.equal(answer.code, code, `${minutes} minutes`);
      if (code) assert.deepEqual(answer.all("MaxAllowedSkewMilliseconds"), ["900000"]);
    }
  });

  it("covers what S3 acts upon, and need not cover the rest", async (t) => {
    const gateway = await testGateway(t);
    const add = (more: Record<string, string>) => ({ headers }: { headers: Record<string, string> }) => {
      Object.assign(headers, more);
    };
    const unsigned = { "x-amz-copy-source": "repo/main/b", "x-amz-tagging": "a=b" };
    for (const presignedSeconds of [undefined, 60]) {
      const options = { method: "PUT", ...(presignedSeconds ? { presignedSeconds } : {}) };
      const answer = await sendChanged(gateway, add(unsigned), options);
      assertRefused(answer, [403, "AccessDenied", /headers present in the request which were not signed/]);
      assert.deepEqual(answer.all("HeadersNotSigned"), ["x-amz-copy-source, x-amz-tagging"]);
      const free = { "content-type": "text/plain", "x-custom": "1", "user-agent": "x" };
      assert.equal((await sendChanged(gateway, add(free), options)).status, 200);
    }
    const hostless = authorized((header) => header.replace("SignedHeaders=host;", "SignedHeaders="));
    assertRefused(await sendChanged(gateway, hostless), [403, "AccessDenied"]);
  });

  it("of another mechanism is named as such: version 2 in a header, 4A, other schemes, two at once, session tokens", async (t) => {
    const gateway = await testGateway(t);
    const mechanism = [400, "InvalidRequest", /not supported. Please use AWS4-HMAC-SHA256/] as const;
    assertRefused(await sendChanged(gateway, authorized(() => "AWS key:c2lnbmF0dXJl")), mechanism);
    assertRefused(
      await sendChanged(gateway, authorized((header) => header.replace("HMAC", "ECDSA-P256"))),
      mechanism,
    );
    const type = [400, "InvalidArgument", /Unsupported Authorization Type/] as const;
    assertRefused(await sendChanged(gateway, authorized((header) => header.replace("AWS4", "AWS2"))), type);
    assertRefused(await sendChanged(gateway, authorized(() => "invalid_header")), [
      400,
      "InvalidArgument",
      /' ' \(space\)/,
    ]);
    const both = (request: { target: string }) => request.target += "?X-Amz-Algorithm=AWS4-HMAC-SHA256";
    assertRefused(await sendChanged(gateway, both), [400, "InvalidArgument", /Only one auth mechanism/]);
    const token = { headers: { "x-amz-security-token": "token" } };
    assertRefused(await gateway.s3("GET", TARGET, token), [400, "InvalidToken"]);
    const tokenInUrl = (request: { target: string }) => request.target += "&X-Amz-Security-Token=token";
    assertRefused(await sendChanged(gateway, tokenInUrl, { presignedSeconds: 60 }), [400, "InvalidToken"]);
  });

  it("that is not well-formed is told what is wrong with it", async (t) => {
    const gateway = await testGateway(t);
    const malformed = async (from: RegExp, to: string, message: RegExp) => {
      const answer = await sendChanged(gateway, authorized((header) => header.replace(from, to)));
      assertRefused(answer, [400, "AuthorizationHeaderMalformed", message]);
    };
    await malformed(/SignedHeaders=[^,]*, /, "", /requires three components/);
    await malformed(/SignedHeaders=/, "SignedHeaders-", /component "SignedHeaders-.*" is malformed/);
    await malformed(/Credential=/, "Creds=", /missing Credential\./);
    await malformed(/SignedHeaders=/, "Signed=", /missing SignedHeaders\./);
    await malformed(/Signature=/, "Sig=", /missing Signature\./);
    await malformed(/Credential=[^,]*/, "Credential=key/20260101", /the Credential is mal-formed/);
    await malformed(/aws4_request/, "aws_request", /incorrect terminal "aws_request"/);
    await malformed(/\/s3\//, "/ec2/", /incorrect service "ec2"/);
    await malformed(/\/\d{8}\//, "/20261301/", /incorrect date format "20261301"/);
    await malformed(/\/\d{8}\//, "/20200101/", /Date is not the same/);
    for (const date of ["", "03032006", "20261301T000000Z", "yesterday"]) {
      const answer = await sendChanged(gateway, ({ headers }) => headers["x-amz-date"] = date);
      assertRefused(answer, [403, "AccessDenied", /requires a valid Date or x-amz-date header/]);
    }
  });

  it("for one region is none for another, and all regions are alike", async (t) => {
    const gateway = await testGateway(t);
    const moved = authorized((header) => header.replace("us-east-1", "eu-west-9"));
    assertRefused(await sendChanged(gateway, moved), [403, "SignatureDoesNotMatch"]);
  });

  it("that is wrong again and again is slowed down, and shuts out nobody whose own is right", async (t) => {
    const { s3, admin, logged } = await testGateway(t);
    const wrong = { credential: { accessKeyId: admin.accessKeyId, secretAccessKey: "wrong" } };
    const statuses = [];
    for (let i = 0; i < 6; i++) statuses.push((await s3("GET", "/repo", wrong)).status);
    assert.deepEqual(statuses, [403, 403, 403, 403, 403, 403]);
    const slowed = await s3("GET", "/repo", wrong);
    assertRefused(slowed, [503, "SlowDown"]);
    assert.match(slowed.headers.get("retry-after")!, /^[1-9]$/);
    assert.match(logged(), /"level":"info".*"status":503.*"too_many_logins"/);
    assert.doesNotMatch(logged(), /"level":"error"/);
    assert.equal((await s3("GET", "/repo")).status, 200);
    assert.equal((await s3("GET", "/repo", { presignedSeconds: 60 })).status, 200);
  });
});

describe("a signed URL", () => {
  it("works until its time is over, and no longer (H25)", async (t) => {
    const gateway = await testGateway(t);
    await gateway.ask(200, "PUT", TARGET, { body: "hello" });
    const now = gateway.context.clock.now();
    const at = (seconds: number) =>
      sendChanged(gateway, () => {}, { presignedSeconds: 60, atMs: now + seconds * 1000 });
    assert.equal((await at(-58)).text, "hello");
    const late = await at(-120);
    assertRefused(late, [403, "AccessDenied", /^Request has expired\.$/]);
    assert.deepEqual(late.all("X-Amz-Expires"), ["60"]);
    assert.equal((await at(14 * 60)).status, 200);
    assertRefused(await at(16 * 60), [403, "AccessDenied", /^Request is not valid yet\.$/]);
  });

  it("is good for a week at most, and whole", async (t) => {
    const gateway = await testGateway(t);
    const refused = async (change: Parameters<typeof sendChanged>[1], message: RegExp) => {
      const answer = await sendChanged(gateway, change, { presignedSeconds: 60 });
      assertRefused(answer, [400, "AuthorizationQueryParametersError", message]);
    };
    await refused(parameter("X-Amz-Expires", "604801"), /must be less than a week/);
    await refused(parameter("X-Amz-Expires", "-3"), /must be non-negative/);
    await refused(parameter("X-Amz-Expires", "soon"), /should be a number/);
    for (const name of ["Algorithm", "Credential", "Signature", "Date", "SignedHeaders", "Expires"]) {
      await refused(parameter(`X-Amz-${name}`), /requires the X-Amz-Algorithm/);
    }
    await refused(parameter("X-Amz-Algorithm", "AWS4-ECDSA-P256-SHA256"), /only supports "AWS4-HMAC-SHA256"/);
    await refused(parameter("X-Amz-Credential", "a%2Fb%2Fc"), /the Credential is mal-formed/);
    await refused(parameter("X-Amz-Date", "yesterday"), /ISO8601 Long Format/);
    await refused(parameter("X-Amz-Date", "20200101T000000Z"), /not the same as X-Amz-Date: "20200101"/);
  });

  it("cannot be used for another object, for more, or longer", async (t) => {
    const gateway = await testGateway(t);
    const wrong = [403, "SignatureDoesNotMatch"] as const;
    const presignedSeconds = 60;
    const elsewhere = (request: { target: string }) =>
      request.target = request.target.replace("a.txt", "b.txt");
    assertRefused(await sendChanged(gateway, elsewhere, { presignedSeconds }), wrong);
    assertRefused(await sendChanged(gateway, parameter("X-Amz-Expires", "61"), { presignedSeconds }), wrong);
    const more = (request: { target: string }) => request.target += "&versionId=x";
    assertRefused(await sendChanged(gateway, more, { presignedSeconds }), wrong);
  });

  it("may carry headers of S3 in its query, as SDKs put them there", async (t) => {
    const { ask } = await testGateway(t);
    const target = `${TARGET}?x-amz-meta-colour=green%20and%20red&x-id=PutObject`;
    await ask(200, "PUT", target, { presignedSeconds: 60, body: "hello" });
    const head = await ask(200, "HEAD", TARGET);
    assert.equal(head.headers.get("x-amz-meta-colour"), "green and red");
    const checksum = `${TARGET}?x-amz-checksum-crc32=AAAAAA%3D%3D&x-amz-sdk-checksum-algorithm=CRC32`;
    const refused = await ask(400, "PUT", checksum, { presignedSeconds: 60, body: "other" });
    assert.equal(refused.code, "BadDigest");
    assert.equal((await ask(200, "GET", TARGET)).text, "hello");
  });
});

describe("the host", () => {
  it("may name the bucket in front of a name of ours", async (t) => {
    const gateway = await testGateway(t);
    (gateway.context.hosts as Set<string>).add("data.example");
    await gateway.ask(200, "PUT", TARGET, { body: "hello" });
    for (const host of [`repo.localhost:${gateway.port}`, "repo.data.example", "REPO.Data.Example:80"]) {
      const answer = await gateway.s3("GET", "/main/a.txt", { headers: { host } });
      assert.equal(answer.text, "hello", host);
      const list = await gateway.s3("GET", "/?list-type=2&prefix=main/", { headers: { host } });
      assert.deepEqual(list.all("Key"), ["main/a.txt"], host);
      // There the API's paths are keys.
      assert.equal(
        (await gateway.s3("GET", "/api/v1/user", { headers: { host } })).code,
        "NoSuchKey",
        host,
      );
    }
  });

  it("must be ours", async (t) => {
    const { s3 } = await testGateway(t);
    for (const host of ["evil.example", "localhost.evil.example", "repo.127.0.0.1", "a b"]) {
      assertRefused(await s3("GET", TARGET, { headers: { host } }), [403, "AccessDenied", /names a host/]);
    }
  });
});

describe("a target", () => {
  it("is the key that it says: dot segments, empty ones, encoded ones", async (t) => {
    const { ask } = await testGateway(t);
    for (const key of ["a/../b", "../../evil", "a//b", "./a", "%252e%252e/x", "c+d", "e%20f"]) {
      await ask(200, "PUT", `/repo/main/${key}`, { body: key });
    }
    const keys = (await ask(200, "GET", "/repo?list-type=2&prefix=main/")).all("Key");
    const expected = ["../../evil", "./a", "%2e%2e/x", "a/../b", "a//b", "c+d", "e f"].map((key) =>
      `main/${key}`
    );
    assert.deepEqual(new Set(keys), new Set(expected));
    assert.equal(lossyText((await ask(200, "GET", "/repo/main/a/../b")).bytes), "a/../b");
    await ask(404, "GET", "/repo/main/b");
  });
});

describe("metadata in several headers of one name", () => {
  const sent = (gateway: TestGateway, signedAs: string, one: string, other: string) =>
    sendChanged(gateway, ({ headers }) => {
      delete headers["x-amz-meta-x"];
      Object.assign(headers, { "x-amz-meta-x": one, "X-Amz-Meta-X": other });
    }, { method: "PUT", body: "a", headers: { "x-amz-meta-x": signedAs } });

  it("is one text, joined as it was signed", async (t) => {
    const gateway = await testGateway(t);
    assert.equal((await sent(gateway, "1,2", "1", "2")).status, 200);
    const meta = async () => (await gateway.ask(200, "HEAD", TARGET)).headers.get("x-amz-meta-x");
    assert.equal(await meta(), "1,2");
    assert.equal((await sent(gateway, "3, 4", "3", "4")).status, 200);
    assert.equal(await meta(), "3, 4");
    await gateway.ask(200, "PUT", TARGET, { body: "a", headers: { "x-amz-meta-x": "5, 6" } });
    assert.equal(await meta(), "5, 6");
  });

  it("is refused if it is not what was signed", async (t) => {
    const gateway = await testGateway(t);
    for (const signedAs of ["1", "2,1", "12"]) {
      assert.equal((await sent(gateway, signedAs, "1", "2")).code, "SignatureDoesNotMatch", signedAs);
    }
    await gateway.ask(404, "HEAD", TARGET);
  });
});
