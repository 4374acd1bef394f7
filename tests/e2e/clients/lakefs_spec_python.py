"""Real work through lakefs-spec, as its users do it: python lakefs_spec_python.py URL ACCESS_KEY_ID SECRET_ACCESS_KEY"""

import pathlib
import sys
import tempfile

import duckdb
import lakefs
import pandas as pd
import pyarrow.dataset
import pyarrow.parquet
from lakefs.client import Client
from lakefs_spec import LakeFSFileSystem

ROWS = 200_000


def frames(options, fs):
    """pandas writes and reads by URL; nothing is left between the two but the object."""
    frame = pd.DataFrame({
        "id": range(ROWS),
        "city": [("Köln", "Berlin", "東京")[i % 3] for i in range(ROWS)],
        "value": [i / 7 for i in range(ROWS)],
    })
    for name, write, read in [
        ("t.parquet", frame.to_parquet, pd.read_parquet),
        ("t.csv", lambda url, **kw: frame.to_csv(url, index=False, **kw), pd.read_csv),
        ("t.csv.gz", lambda url, **kw: frame.to_csv(url, index=False, **kw), pd.read_csv),
        ("t.json", lambda url, **kw: frame.head(1000).to_json(url, orient="records", **kw), pd.read_json),
    ]:
        url = f"lakefs://spec-repo/main/frames/{name}"
        write(url, storage_options=options)
        again = read(url, storage_options=options)
        expected = frame.head(1000) if name.endswith("json") else frame
        pd.testing.assert_frame_equal(again, expected)
    # Some columns and groups of a file of several row groups: reads of parts.
    with fs.open("lakefs://spec-repo/main/frames/groups.parquet", "wb") as f:
        frame.to_parquet(f, row_group_size=20_000)
    some = pd.read_parquet(
        "lakefs://spec-repo/main/frames/groups.parquet",
        columns=["value"], filters=[("id", ">=", 150_000)], storage_options=options)
    assert len(some) == 50_000 and some.columns.tolist() == ["value"], some
    with fs.open("lakefs://spec-repo/main/frames/groups.parquet", "rb") as f:
        assert pyarrow.parquet.ParquetFile(f).num_row_groups == 10
    dataset = pyarrow.dataset.dataset("spec-repo/main/frames/groups.parquet", filesystem=fs, format="parquet")
    assert dataset.count_rows() == ROWS


def database(fs):
    """DuckDB reads objects and writes what it made of them."""
    with duckdb.connect(":memory:") as db:
        db.register_filesystem(fs)
        source = "lakefs://spec-repo/main/frames/groups.parquet"
        counts = db.sql(f"SELECT city, count(*) AS n FROM read_parquet('{source}') GROUP BY city ORDER BY n DESC, city")
        assert {city: n for city, n in counts.fetchall()} == {"Berlin": 66667, "Köln": 66667, "東京": 66666}
        csv = "lakefs://spec-repo/main/frames/t.csv"
        assert db.sql(f"SELECT max(id) FROM read_csv('{csv}')").fetchall() == [(ROWS - 1,)]
        made = "lakefs://spec-repo/main/made/by_duckdb.parquet"
        db.sql(f"COPY (SELECT id, value FROM read_parquet('{source}') WHERE id < 100) TO '{made}' (FORMAT parquet)")
        assert db.sql(f"SELECT count(*), sum(id) FROM read_parquet('{made}')").fetchall() == [(100, 4950)]
        globbed = db.sql("SELECT count(*) FROM read_parquet('lakefs://spec-repo/main/made/*.parquet')")
        assert globbed.fetchall() == [(100,)]


def files(fs):
    root = "lakefs://spec-repo/main"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "up" / "deep er").mkdir(parents=True)
        (folder / "up" / "a.txt").write_text("hello")
        (folder / "up" / "deep er" / "ä+b%20.bin").write_bytes(bytes(range(256)) * 5000)
        fs.put(str(folder / "up"), f"{root}/tree", recursive=True)
        found = sorted(fs.find(f"{root}/tree"))
        assert found == ["spec-repo/main/tree/a.txt", "spec-repo/main/tree/deep er/ä+b%20.bin"], found
        fs.get(f"{root}/tree", str(folder / "down"), recursive=True)
        for path in ["a.txt", "deep er/ä+b%20.bin"]:
            assert (folder / "down" / path).read_bytes() == (folder / "up" / path).read_bytes(), path
        # Put again, what is the same is not sent: that is decided by the checksum.
        before = fs.info(f"{root}/tree/a.txt")
        fs.put_file(str(folder / "up" / "a.txt"), f"{root}/tree/a.txt", precheck=True)
        assert fs.info(f"{root}/tree/a.txt") == before
    assert fs.checksum(f"{root}/tree/a.txt") == "5d41402abc4b2a76b9719d911017c592"
    assert fs.exists(f"{root}/tree/a.txt") and not fs.exists(f"{root}/tree/none")
    assert fs.isdir(f"{root}/tree") and fs.isfile(f"{root}/tree/a.txt")
    assert fs.size(f"{root}/tree/deep er/ä+b%20.bin") == 1_280_000
    assert fs.cat_file(f"{root}/tree/deep er/ä+b%20.bin", start=255, end=258) == b"\xff\x00\x01"
    assert fs.tail(f"{root}/tree/a.txt", 3) == b"llo"
    fs.cp_file(f"{root}/tree/a.txt", f"{root}/tree/copy.txt")
    assert fs.cat(f"{root}/tree/copy.txt") == b"hello"
    assert sorted(one["name"] for one in fs.ls(f"{root}/tree", refresh=True)) == [
        "spec-repo/main/tree/a.txt", "spec-repo/main/tree/copy.txt", "spec-repo/main/tree/deep er/"]
    fs.pipe(f"{root}/tree/piped", b"x" * 100)
    fs.rm(f"{root}/tree", recursive=True)
    assert not fs.exists(f"{root}/tree/a.txt")
    try:
        fs.cat(f"{root}/tree/a.txt")
    except FileNotFoundError:
        pass
    else:
        raise AssertionError("a deleted object was read")


def versions(options, fs, client):
    branch = lakefs.repository("spec-repo", client=client).branch("main")
    first = branch.commit("the frames").get_commit()
    with fs.transaction("spec-repo", "main") as tx:
        frame = pd.read_csv(f"lakefs://spec-repo/{tx.branch.id}/frames/t.csv", storage_options=options)
        frame.head(10).to_csv(f"lakefs://spec-repo/{tx.branch.id}/frames/t.csv", index=False, storage_options=options)
        tx.commit("ten rows", metadata={"by": "pandas"})
        tx.tag(tx.rev_parse(tx.branch), "ten")
    assert len(pd.read_csv("lakefs://spec-repo/main/frames/t.csv", storage_options=options)) == 10
    assert len(pd.read_csv("lakefs://spec-repo/ten/frames/t.csv", storage_options=options)) == 10
    old = pd.read_csv(f"lakefs://spec-repo/{first.id}/frames/t.csv", storage_options=options)
    assert len(old) == ROWS
    try:
        with fs.transaction("spec-repo", "main", delete="always") as tx:
            fs.pipe(f"spec-repo/{tx.branch.id}/frames/t.csv", b"broken")
            raise RuntimeError("given up")
    except RuntimeError:
        pass
    assert len(pd.read_csv("lakefs://spec-repo/main/frames/t.csv", storage_options=options)) == 10
    assert [one.id for one in lakefs.repository("spec-repo", client=client).branches()] == ["main"]


def main(host, key, secret):
    options = {"host": host, "username": key, "password": secret}
    client = Client(**options)
    lakefs.Repository("spec-repo", client=client).create(storage_namespace="local://spec-repo")
    fs = LakeFSFileSystem(**options)
    frames(options, fs)
    database(fs)
    files(fs)
    versions(options, fs, client)
    print("all done")


if __name__ == "__main__":
    main(*sys.argv[1:])
