"""Delta tables by `lakefs://` addresses: python lakefs_delta_python.py URL ACCESS_KEY_ID SECRET_ACCESS_KEY"""

import sys

import lakefs
import pyarrow
from deltalake import DeltaTable, write_deltalake
from lakefs.client import Client

PLACE = "lakefs://delta-repo/main/tables/t"


def main(host, key, secret):
    client = Client(host=host, username=key, password=secret)
    repository = lakefs.Repository("delta-repo", client=client).create(storage_namespace="local://delta-repo")
    options = {"endpoint": host, "access_key_id": key, "secret_access_key": secret, "allow_http": "true"}
    rows = pyarrow.table({"id": [1, 2, 3], "name": ["a", "b", "c"]})

    write_deltalake(PLACE, rows, storage_options=options)
    write_deltalake(PLACE, rows, mode="append", storage_options=options)
    table = DeltaTable(PLACE, storage_options=options)
    assert (table.version(), table.to_pyarrow_table().num_rows) == (1, 6)
    # It writes on a branch of its own and merges that, once for each version of the table.
    log = [one.message for one in repository.branch("main").log()]
    assert len(log) == 3 and all("delta" in message for message in log[:2]), log
    assert [one.id for one in repository.branches()] == ["main"]
    assert list(repository.branch("main").uncommitted()) == []

    table.delete("id = 1")
    table.update(updates={"name": "'changed'"}, predicate="id = 2")
    table.merge(rows, "s.id = t.id", source_alias="s", target_alias="t").when_not_matched_insert_all().execute()
    table.optimize.compact()
    names = sorted(DeltaTable(PLACE, storage_options=options).to_pyarrow_table().column("name").to_pylist())
    assert names == ["a", "c", "c", "changed", "changed"], names
    old = DeltaTable(PLACE, version=0, storage_options=options)
    assert old.to_pyarrow_table().num_rows == 3

    # The table of a commit is what it was then.
    commit = repository.ref("main~1").get_commit().id
    then = DeltaTable(f"lakefs://delta-repo/{commit}/tables/t", storage_options=options)
    assert then.version() < DeltaTable(PLACE, storage_options=options).version()
    print("all done")


if __name__ == "__main__":
    main(*sys.argv[1:])
