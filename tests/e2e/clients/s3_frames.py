"""Tables through s3fs, pyarrow, Polars and DuckDB's httpfs: python s3_frames.py URL ACCESS_KEY_ID SECRET_ACCESS_KEY BUCKET PREFIX"""

import io
import pathlib
import sys
import tempfile

import duckdb
import duckdb_extension_httpfs
import polars
import pyarrow
import pyarrow.compute
import pyarrow.dataset
import pyarrow.fs
import pyarrow.parquet
import s3fs

ROWS = 200_000


def files(fs, root):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "up" / "deep er").mkdir(parents=True)
        (folder / "up" / "a.txt").write_text("hello")
        (folder / "up" / "deep er" / "ä+b%20.bin").write_bytes(bytes(range(256)) * 5000)
        fs.put(str(folder / "up"), f"{root}/tree", recursive=True)
        assert sorted(fs.find(f"{root}/tree")) == [f"{root}/tree/a.txt", f"{root}/tree/deep er/ä+b%20.bin"]
        fs.get(f"{root}/tree", str(folder / "down"), recursive=True)
        for path in ["a.txt", "deep er/ä+b%20.bin"]:
            assert (folder / "down" / path).read_bytes() == (folder / "up" / path).read_bytes(), path
    assert fs.exists(f"{root}/tree/a.txt") and not fs.exists(f"{root}/tree/none")
    assert fs.isdir(f"{root}/tree") and fs.isfile(f"{root}/tree/a.txt")
    assert fs.cat_file(f"{root}/tree/deep er/ä+b%20.bin", start=255, end=258) == b"\xff\x00\x01"
    fs.cp_file(f"{root}/tree/a.txt", f"{root}/tree/copy.txt")
    assert sorted(one.rsplit("/", 1)[1] for one in fs.ls(f"{root}/tree", refresh=True)) == ["a.txt", "copy.txt", "deep er"]
    fs.mv(f"{root}/tree/copy.txt", f"{root}/tree/moved.txt")
    assert fs.cat(f"{root}/tree/moved.txt") == b"hello" and not fs.exists(f"{root}/tree/copy.txt")
    # Larger than a part of s3fs: it goes up in several.
    large = bytes(range(251)) * (60_000_000 // 251)
    with fs.open(f"{root}/tree/large.bin", "wb") as file:
        for at in range(0, len(large), 7_000_000):
            file.write(large[at:at + 7_000_000])
    assert fs.size(f"{root}/tree/large.bin") == len(large)
    with fs.open(f"{root}/tree/large.bin", "rb") as file:
        file.seek(-100, io.SEEK_END)
        assert file.read() == large[-100:]
    assert fs.cat(f"{root}/tree/large.bin") == large
    fs.touch(f"{root}/tree/touched")
    assert len(fs.glob(f"{root}/tree/**/*.bin")) == 2
    fs.rm(f"{root}/tree", recursive=True)
    assert not fs.exists(f"{root}/tree")


def arrow(url, key, secret, root):
    fs = pyarrow.fs.S3FileSystem(access_key=key, secret_key=secret, endpoint_override=url, region="us-east-1")
    table = pyarrow.table({
        "id": pyarrow.array(range(ROWS)),
        "city": ["Berlin", "Köln", "東京"] * (ROWS // 3) + ["Berlin"] * (ROWS % 3),
        "value": [number * 0.5 for number in range(ROWS)],
    })
    pyarrow.parquet.write_table(table, f"{root}/one.parquet", filesystem=fs, row_group_size=20_000)
    assert pyarrow.parquet.read_table(f"{root}/one.parquet", filesystem=fs).equals(table)
    parts = pyarrow.parquet.read_table(f"{root}/one.parquet", filesystem=fs, columns=["id"], filters=[("id", ">=", ROWS - 5)])
    assert parts["id"].to_pylist() == list(range(ROWS - 5, ROWS))
    pyarrow.dataset.write_dataset(table, f"{root}/by_city", filesystem=fs, format="parquet", partitioning=["city"],
                                  partitioning_flavor="hive", existing_data_behavior="overwrite_or_ignore")
    found = pyarrow.dataset.dataset(f"{root}/by_city", filesystem=fs, partitioning="hive")
    assert found.count_rows() == ROWS
    assert found.count_rows(filter=pyarrow.compute.field("city") == "Köln") == ROWS // 3
    selector = pyarrow.fs.FileSelector(root, recursive=True)
    assert len([one for one in fs.get_file_info(selector) if one.type == pyarrow.fs.FileType.File]) == 4
    # In parts, as it is larger than one.
    with fs.open_output_stream(f"{root}/stream.bin") as stream:
        for _ in range(12):
            stream.write(b"x" * 1_000_000)
    assert fs.get_file_info(f"{root}/stream.bin").size == 12_000_000
    fs.copy_file(f"{root}/stream.bin", f"{root}/again.bin")
    fs.move(f"{root}/again.bin", f"{root}/moved.bin")
    fs.delete_file(f"{root}/moved.bin")
    fs.create_dir(f"{root}/empty/inner", recursive=True)
    fs.delete_dir(f"{root}/empty")
    assert fs.get_file_info(f"{root}/moved.bin").type == pyarrow.fs.FileType.NotFound


def frames(url, key, secret, root):
    options = {"aws_access_key_id": key, "aws_secret_access_key": secret, "aws_endpoint_url": url,
               "aws_region": "us-east-1", "aws_allow_http": "true"}
    frame = polars.DataFrame({"id": range(ROWS), "text": [f"row {number}" for number in range(ROWS)]})
    frame.write_parquet(f"s3://{root}/polars.parquet", storage_options=options)
    assert polars.read_parquet(f"s3://{root}/polars.parquet", storage_options=options).equals(frame)
    lazy = polars.scan_parquet(f"s3://{root}/polars.parquet", storage_options=options)
    assert lazy.filter(polars.col("id") > ROWS - 3).select("text").collect()["text"].to_list() == [
        f"row {ROWS - 2}", f"row {ROWS - 1}"]
    lazy.filter(polars.col("id") < 1000).sink_parquet(f"s3://{root}/sunk/small.parquet", storage_options=options)
    globbed = polars.scan_parquet(f"s3://{root}/sunk/*.parquet", storage_options=options)
    assert globbed.select(polars.len()).collect().item() == 1000


def database(url, key, secret, root):
    with duckdb.connect(":memory:", config={"allow_unsigned_extensions": "true"}) as db:
        extensions = pathlib.Path(duckdb_extension_httpfs.__file__).parent / "extensions"
        db.sql(f"LOAD '{extensions}/v{duckdb.__version__}/httpfs.duckdb_extension'")
        host = url.removeprefix("http://")
        db.sql(f"CREATE SECRET (TYPE s3, KEY_ID '{key}', SECRET '{secret}', REGION 'us-east-1', "
               f"ENDPOINT '{host}', URL_STYLE 'path', USE_SSL false)")
        source = f"s3://{root}/one.parquet"
        counts = dict(db.sql(f"SELECT city, count(*) FROM read_parquet('{source}') GROUP BY city").fetchall())
        assert counts == {"Berlin": 66668, "Köln": 66666, "東京": 66666}, counts
        db.sql(f"COPY (SELECT id, value FROM read_parquet('{source}') WHERE id < 100) TO 's3://{root}/made/by_duckdb.parquet' (FORMAT parquet)")
        assert db.sql(f"SELECT count(*), sum(id) FROM read_parquet('s3://{root}/made/*.parquet')").fetchall() == [(100, 4950)]
        db.sql(f"COPY (SELECT range AS id, repeat('x', 20) AS text FROM range(3000000)) TO 's3://{root}/made/large.csv' (FORMAT csv)")
        assert db.sql(f"SELECT count(*), max(id) FROM read_csv('s3://{root}/made/large.csv')").fetchall() == [(3_000_000, 2_999_999)]
        hive = db.sql(f"SELECT count(*) FROM read_parquet('s3://{root}/by_city/**/*.parquet', hive_partitioning = true) WHERE city = '東京'")
        assert hive.fetchall() == [(66666,)]


def main(url, key, secret, bucket, prefix):
    root = f"{bucket}/{prefix}frames"
    fs = s3fs.S3FileSystem(key=key, secret=secret, endpoint_url=url, skip_instance_cache=True)
    files(fs, root)
    arrow(url, key, secret, root)
    frames(url, key, secret, root)
    database(url, key, secret, root)
    print("all done")


if __name__ == "__main__":
    main(*sys.argv[1:])
