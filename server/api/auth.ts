/** Login, users and their credentials. Every user may do everything: rights come with policies. */

import { z } from "zod";
import { type CredentialRecord, type NewCredential, SESSION_COOKIE, type UserRecord } from "../auth/mod.ts";
import { empty, json, operation } from "../operation.ts";
import { pageJson, prefixedPaging } from "./schemas.ts";

const login = operation("login", {
  isPublic: true,
  body: z.object({ access_key_id: z.string(), secret_access_key: z.string() }),
  async run({ context, peer, body }) {
    const { token, expiresAt } = await context.auth.logIn(body.access_key_id, body.secret_access_key, {
      address: peer.address() ?? "unknown",
    });
    const seconds = expiresAt - Math.floor(context.clock.now() / 1000);
    const cookie = `${SESSION_COOKIE}=${token}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${seconds}`;
    return json(200, { token, token_expiration: expiresAt }, {
      "set-cookie": cookie,
      "cache-control": "no-store",
    });
  },
});

const getCurrentUser = operation("getCurrentUser", {
  async run({ context, user }) {
    return json(200, { user: userJson(await context.auth.users.get(user)) });
  },
});

const listUsers = operation("listUsers", {
  query: prefixedPaging,
  async run({ context, query }) {
    const { items, hasMore } = await context.auth.users.list(query);
    return json(200, pageJson(items.map(userJson), { hasMore, nameOf: ({ id }) => id }));
  },
});

const createUser = operation("createUser", {
  body: z.object({ id: z.string(), invite_user: z.boolean().optional() }),
  async run({ context, body }) {
    return json(201, userJson(await context.auth.users.create(body.id)));
  },
});

const getUser = operation("getUser", {
  async run({ context, path }) {
    return json(200, userJson(await context.auth.users.get(path.userId)));
  },
});

const deleteUser = operation("deleteUser", {
  async run({ context, path }) {
    await context.auth.users.delete(path.userId);
    return empty();
  },
});

const listUserCredentials = operation("listUserCredentials", {
  query: prefixedPaging,
  async run({ context, path, query }) {
    const { items, hasMore } = await context.auth.users.listCredentials(path.userId, query);
    return json(200, pageJson(items.map(credentialJson), { hasMore, nameOf: (one) => one.access_key_id }));
  },
});

const createCredentials = operation("createCredentials", {
  async run({ context, path }) {
    return json(201, newCredentialJson(await context.auth.users.createCredential(path.userId)), {
      "cache-control": "no-store",
    });
  },
});

const getCredentials = operation("getCredentials", {
  async run({ context, path }) {
    return json(200, credentialJson(await context.auth.users.getCredential(path.userId, path.accessKeyId)));
  },
});

const deleteCredentials = operation("deleteCredentials", {
  async run({ context, path }) {
    await context.auth.users.deleteCredential(path.userId, path.accessKeyId);
    return empty();
  },
});

function userJson({ id, created }: UserRecord): { id: string } & Record<string, unknown> {
  return { id, creation_date: created, friendly_name: id };
}

function credentialJson(
  { accessKeyId, created }: CredentialRecord,
): { access_key_id: string; creation_date: number } {
  return { access_key_id: accessKeyId, creation_date: created };
}

export function newCredentialJson(
  { accessKeyId, secretAccessKey, created }: NewCredential,
): Record<string, unknown> {
  return { access_key_id: accessKeyId, secret_access_key: secretAccessKey, creation_date: created };
}

export const AUTH_OPERATIONS = [
  login,
  getCurrentUser,
  listUsers,
  createUser,
  getUser,
  deleteUser,
  listUserCredentials,
  createCredentials,
  getCredentials,
  deleteCredentials,
];
