import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { describe, it } from "node:test";
import { utf8 } from "../../../base/bytes.ts";
import {
  algorithmOfHeader,
  CHECKSUM_ALGORITHMS,
  type ChecksumAlgorithm,
  checksumHeader,
  isChecksum,
  startChecksum,
} from "./checksums.ts";

/** Of `123456789`, as the catalogues of CRCs and the standards of the hashes have them, in hexadecimal. */
const CHECK: Record<ChecksumAlgorithm, string> = {
  CRC32: "cbf43926",
  CRC32C: "e3069283",
  CRC64NVME: "ae8b14860a799888",
  MD5: "25f9e794323b453885f5181f1b624d0b",
  SHA1: "f7c3bc1d808e04732adf679965ccc34ca7ae3441",
  SHA256: "15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225",
  SHA512:
    "d9e6762dd1c8eaf6d61b3c6192fc408d4d6d5f1176d0c29169bc24e71c3f274ad27fcd5811b313d681f7e55ec02d73d499c95455b6b5bb503acf574fba8ffe85",
  XXHASH3: "72dcb18b67a17dff",
  XXHASH64: "8cb841db40e6ae83",
  XXHASH128: "33119477ede5dcd5e9716427681d5860",
};

/** Of `the object data`, as S3 answers them. */
const OF_S3: Record<ChecksumAlgorithm, string> = {
  CRC32: "z3mWAA==",
  CRC32C: "rxvjPA==",
  CRC64NVME: "dYnI3/Fh0gM=",
  MD5: "EtWtthXtCk3RxUiXKw+ydw==",
  SHA1: "8O8FwCfmd5fCbCBvH09mrKMVoHU=",
  SHA256: "OoSow5X4zTIPl27MtdFdYT+9O3C367C75+Cb2MFtRBc=",
  SHA512: "uiz+VuENyLjzFxWrdmbN/NdIdldj/V3saJF6FsckcYu6xu26fM0CfAaTySaoFJmIdI2m5wbYMJxtShQ1PXk3Tg==",
  XXHASH3: "tLh+aNltTM4=",
  XXHASH64: "McmxUfNFLUs=",
  XXHASH128: "MXqrLVobrQkTBf82+7i9AQ==",
};

async function checksum(algorithm: ChecksumAlgorithm, ...pieces: string[]): Promise<string> {
  const running = await startChecksum(algorithm);
  for (const piece of pieces) running.update(utf8(piece));
  return running.base64();
}

describe("checksums", () => {
  for (const algorithm of CHECKSUM_ALGORITHMS) {
    it(`${algorithm} is the standard's and S3's, however the bytes come`, async () => {
      assert.equal(
        Buffer.from(await checksum(algorithm, "123456789"), "base64").toString("hex"),
        CHECK[algorithm],
      );
      assert.equal(await checksum(algorithm, "the object data"), OF_S3[algorithm]);
      assert.equal(await checksum(algorithm, "", "t", "he obj", "ect data"), OF_S3[algorithm]);
      assert.ok(isChecksum(OF_S3[algorithm], algorithm));
      assert.equal(algorithmOfHeader(checksumHeader(algorithm)), algorithm);
    });

    it(`${algorithm} of two bodies at once are two`, async () => {
      const [one, other] = [await startChecksum(algorithm), await startChecksum(algorithm)];
      one.update(utf8("the obj"));
      other.update(utf8("12345"));
      one.update(utf8("ect data"));
      other.update(utf8("6789"));
      assert.equal(one.base64(), OF_S3[algorithm]);
      assert.equal(Buffer.from(other.base64(), "base64").toString("hex"), CHECK[algorithm]);
    });
  }

  it("are base64 of the right length, in its one form", () => {
    for (
      const text of [
        "",
        "z3mWAA",
        "z3mWAA=",
        "z3mWAB==",
        " z3mWAA==",
        "z3mWAA==\n",
        "dYnI3/Fh0gM=",
        "z3m-AA==",
      ]
    ) {
      assert.equal(isChecksum(text, "CRC32"), false, JSON.stringify(text));
    }
  });

  it("have headers that no other header is taken for", () => {
    for (const name of ["mode", "type", "algorithm", "crc16", "constructor", ""]) {
      assert.equal(algorithmOfHeader(`x-amz-checksum-${name}`), undefined);
    }
  });
});
