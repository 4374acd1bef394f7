/** The first user, and what a client asks before it has one. */

import { z } from "zod";
import { CodedError } from "../../base/errors.ts";
import { timingSafeEqual } from "node:crypto";
import { sha256 } from "../../base/hashes.ts";
import { utf8 } from "../../base/bytes.ts";
import { isLoopbackAddress } from "../addresses.ts";
import { SESSION_COOKIE } from "../auth/mod.ts";
import type { ServerContext } from "../context.ts";
import type { Peer } from "../listen.ts";
import { empty, json, operation } from "../operation.ts";
import { newCredentialJson } from "./auth.ts";

const getSetupState = operation("getSetupState", {
  isPublic: true,
  async run({ context }) {
    const isSetUp = await context.auth.users.isSetUp();
    return json(200, {
      state: isSetUp ? "initialized" : "not_initialized",
      comm_prefs_missing: false,
      login_config: {
        login_url: "/auth/login",
        login_cookie_names: [SESSION_COOKIE],
        logout_url: "/auth/logout",
      },
    });
  },
});

const setup = operation("setup", {
  isPublic: true,
  body: z.object({
    username: z.string(),
    key: z.object({ access_key_id: z.string(), secret_access_key: z.string() }).optional(),
  }),
  async run({ context, request, peer, body }) {
    const { users } = context.auth;
    if (await users.isSetUp()) throw new CodedError("exists", "already_set_up", "lakeFS already initialized");
    checkMaySetUp(context, request, { peer });
    const created = await users.setUp(
      body.username,
      body.key && { accessKeyId: body.key.access_key_id, secretAccessKey: body.key.secret_access_key },
    );
    return json(200, newCredentialJson(created));
  },
});

/** Nothing is kept of it: whoever is asked for news of us is not asked here. */
const setupCommPrefs = operation("setupCommPrefs", {
  isPublic: true,
  body: z.object({ featureUpdates: z.boolean(), securityUpdates: z.boolean() }),
  async run() {
    return json(200, {});
  },
});

const healthCheck = operation("healthCheck", {
  isPublic: true,
  async run() {
    return empty();
  },
});

const getAuthCapabilities = operation("getAuthCapabilities", {
  isPublic: true,
  async run() {
    return json(200, { invite_user: false, forgot_password: false });
  },
});

/** A program on this machine may, and who holds the token that was printed; no page in a browser, and nobody behind a proxy. */
function checkMaySetUp(context: ServerContext, request: Request, { peer }: { peer: Peer }): void {
  const { headers } = request;
  const given = headers.get("x-tarn-setup-token");
  if (given !== null && timingSafeEqual(sha256(utf8(given)), sha256(utf8(context.setupToken)))) return;
  const address = peer.address();
  const isForwarded = headers.has("forwarded") || headers.has("x-forwarded-for");
  const isLocal = address !== undefined && isLoopbackAddress(address) && !isForwarded &&
    !headers.has("origin");
  if (isLocal && given === null) return;
  throw new CodedError(
    "forbidden",
    "setup_forbidden",
    'Cannot set up from here: it takes the token that the server printed, in the header "x-tarn-setup-token"',
  );
}

export const SETUP_OPERATIONS = [getSetupState, setup, setupCommPrefs, healthCheck, getAuthCapabilities];
