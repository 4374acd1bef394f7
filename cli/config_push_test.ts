import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { etcdctl, requireEtcd, sharedEtcd } from "../tests/services/services.ts";
import { testCli } from "./testing.ts";

it("config push copies the raw form into etcd, and --config reads it from there", async (t) => {
  if (!requireEtcd(t)) return;
  const { port } = await sharedEtcd();
  const etcd = `etcd+http://127.0.0.1:${port}/push`;
  const cli = testCli(t);
  const write = (text: string) => writeFileSync(join(cli.folder, "tarn.yaml"), text);
  write('cache: {root: "${oc.env:CACHE}/x", max_size: 1GB}\ntenants: {acme: {}}\nhooks: [provcat.log]\n');
  const pushed = await cli.json(["config", "push", etcd, "--config", "tarn.yaml"]);
  assert.deepEqual(pushed, {
    from: "tarn.yaml",
    to: etcd,
    written: ["/cache", "/tenants", "/tenants/acme/name"],
    deleted: [],
  });
  // The variable is the readers' matter; here it is not set.
  assert.deepEqual(await cli.json(["config", "show", "--config", etcd, "--tenant", "acme"]), {
    cache: { root: "${oc.env:CACHE}/x", max_size: "1GB" },
  });
  assert.match(
    (await cli.run("config", "show", "--config", etcd, "--resolved")).err,
    /"CACHE", which is not set/,
  );

  write("stores: {s3-a: {driver: s3}}\n");
  const again = await cli.run("config", "push", etcd, "--config", "tarn.yaml");
  assert.equal(again.out, `Pushed tarn.yaml to ${etcd}: 1 key written, 3 deleted\n`);
  assert.equal((await cli.run("config", "check", "--config", etcd)).code, 0);
});

it("config push refuses what no reader could use, or what is not trusted, and then writes nothing", async (t) => {
  if (!requireEtcd(t)) return;
  const { port } = await sharedEtcd();
  const etcd = `etcd+http://127.0.0.1:${port}/refused`;
  const cli = testCli(t);
  const refused = async (text: string, ...more: string[]) => {
    writeFileSync(join(cli.folder, "tarn.yaml"), text);
    const { code, err } = await cli.run("config", "push", etcd, ...more);
    assert.notEqual(code, 0);
    assert.equal(etcdctl(port, ["get", "--prefix", "/refused"]), "");
    return err;
  };
  const named = ["--config", "tarn.yaml"];
  assert.match(await refused("stores: {s: {driver: s4}}", ...named), /line 1, column 14: "stores.s.driver"/);
  assert.match(await refused("stores: {s: {driver: file, root: data}}", ...named), /it must be absolute/);
  assert.match(
    await refused("tenants: {acme: {stores: {s3: {driver: s3}}}}", ...named),
    /must end with "-acme"/,
  );
  assert.match(await refused("tenants: {acme: {}}", ...named, "--tenant", "acme"), /not one tenant's view/);
  assert.match(await refused('cache: {root: "/${oc.env:X}"}'), /nobody has said that it is to be trusted/);
  assert.match((await cli.run("config", "push", etcd, "--config", etcd)).err, /there is no file to push/);
});
