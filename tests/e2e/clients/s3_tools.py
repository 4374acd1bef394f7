"""Real work through command-line tools: python s3_tools.py TOOL URL ACCESS_KEY_ID SECRET_ACCESS_KEY BUCKET PREFIX"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import urllib.request

BIN = pathlib.Path(sys.executable).parent
LARGE = bytes(range(256)) * (21 * 1024 * 1024 // 256) + b"end"
FILES = {
    "a.txt": b"hello",
    "b c+d%20.txt": b"odd name",
    "deep/er/ü & 湖.txt": b"deep",
    "deep/empty": b"",
    "large.bin": LARGE,
}


class Tool:
    def __init__(self, *command, environment=None):
        self.command = command
        self.environment = environment or {}

    def __call__(self, *args, fails=False):
        done = subprocess.run([*self.command, *args], capture_output=True, env={"PATH": os.environ["PATH"], **self.environment})
        output = (done.stdout + done.stderr).decode()
        assert (done.returncode != 0) == fails, f"{args}: {done.returncode}\n{output}"
        return output if fails else done.stdout.decode()


def make_tree(folder):
    for name, content in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
        # As old as it may be: who synchronizes looks at whole seconds.
        os.utime(folder / name, (1_600_000_000, 1_600_000_000))


def tree_of(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def aws(folder, url, key, secret, bucket, prefix):
    config = folder / "aws-config"
    config.write_text("[default]\ns3 =\n  multipart_threshold = 8MB\n  multipart_chunksize = 8MB\n")
    run = Tool(sys.executable, BIN / "aws", "--endpoint-url", url, environment={
        "AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": secret, "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_CONFIG_FILE": str(config), "HOME": str(folder), "AWS_PAGER": ""})
    root = f"s3://{bucket}/{prefix}aws"
    make_tree(folder / "up")
    run("s3", "cp", "--recursive", "--no-progress", str(folder / "up"), f"{root}/tree")
    shown = run("s3", "ls", "--recursive", f"{root}/tree/")
    assert len(shown.splitlines()) == len(FILES) and str(len(LARGE)) in shown, shown
    assert run("s3", "sync", str(folder / "up"), f"{root}/tree") == ""
    run("s3", "cp", "--recursive", "--no-progress", f"{root}/tree", str(folder / "down"))
    assert tree_of(folder / "down") == FILES
    run("s3", "sync", "--no-progress", f"{root}/tree", f"{root}/second")
    run("s3", "mv", "--no-progress", f"{root}/second/large.bin", f"{root}/second/moved.bin")
    run("s3", "cp", "--no-progress", f"{root}/second/moved.bin", str(folder / "moved"))
    assert (folder / "moved").read_bytes() == LARGE
    assert "PRE deep/" in run("s3", "ls", f"{root}/second/")
    run("s3api", "get-object", "--bucket", bucket, "--key", f"{prefix}aws/tree/a.txt", "--range", "bytes=1-3", str(folder / "part"))
    assert (folder / "part").read_bytes() == b"ell"
    head = json.loads(run("s3api", "head-object", "--bucket", bucket, "--key", f"{prefix}aws/tree/a.txt", "--output", "json"))
    assert head["ETag"] == '"5d41402abc4b2a76b9719d911017c592"', head
    link = run("s3", "presign", f"{root}/tree/a.txt").strip()
    with urllib.request.urlopen(link) as answer:
        assert answer.read() == b"hello"
    run("s3", "rm", "--recursive", root)
    assert "NoSuchKey" in run("s3api", "get-object", "--bucket", bucket, "--key", f"{prefix}aws/tree/a.txt", str(folder / "x"), fails=True)
    run("s3", "mb", "s3://made-by-aws")
    assert "made-by-aws" in run("s3", "ls")
    run("s3", "rb", "s3://made-by-aws")


def s3cmd(folder, url, key, secret, bucket, prefix):
    host = url.removeprefix("http://")
    run = Tool(sys.executable, BIN / "s3cmd", f"--config={folder / 'none'}", f"--access_key={key}", f"--secret_key={secret}", f"--host={host}",
               f"--host-bucket={host}", "--no-ssl", "--no-progress", environment={"HOME": str(folder)})
    (folder / "none").write_text("[default]\n")
    root = f"s3://{bucket}/{prefix}s3cmd"
    make_tree(folder / "up")
    run("put", "--recursive", "--multipart-chunk-size-mb=8", f"{folder}/up/", f"{root}/tree/")
    shown = run("ls", "--recursive", f"{root}/tree/")
    assert len(shown.splitlines()) == len(FILES), shown
    (folder / "down").mkdir()
    run("get", "--recursive", f"{root}/tree/", f"{folder}/down/")
    assert tree_of(folder / "down") == FILES
    run("sync", f"{folder}/up/", f"{root}/tree/")
    run("cp", f"{root}/tree/b c+d%20.txt", f"{root}/copy.txt")
    run("mv", f"{root}/copy.txt", f"{root}/moved.txt")
    run("get", f"{root}/moved.txt", f"{folder}/moved.txt")
    assert (folder / "moved.txt").read_bytes() == b"odd name"
    run("modify", "--add-header=content-type:text/csv", f"{root}/moved.txt")
    info = run("info", f"{root}/moved.txt")
    assert "text/csv" in info and "FULL_CONTROL" in info, info
    assert run("info", f"s3://{bucket}")
    assert run("du", f"{root}/tree/").split()[0] == str(sum(map(len, FILES.values())))
    run("del", "--recursive", "--force", root)
    assert run("ls", "--recursive", root) == ""
    assert "does not exist" in run("get", f"{root}/tree/a.txt", f"{folder}/x", fails=True)
    run("mb", "s3://made-by-s3cmd")
    run("rb", "s3://made-by-s3cmd")


def rclone(folder, url, key, secret, bucket, prefix):
    run = Tool(BIN / "rclone", "--config", str(folder / "none"), "--s3-upload-cutoff=8M", "--s3-chunk-size=8M", environment={
        "HOME": str(folder), "RCLONE_CONFIG_T_TYPE": "s3", "RCLONE_CONFIG_T_PROVIDER": "Other", "RCLONE_CONFIG_T_ENDPOINT": url,
        "RCLONE_CONFIG_T_ACCESS_KEY_ID": key, "RCLONE_CONFIG_T_SECRET_ACCESS_KEY": secret})
    root = f"t:{bucket}/{prefix}rclone"
    make_tree(folder / "up")
    run("copy", str(folder / "up"), f"{root}/tree")
    assert sorted(run("lsf", "-R", "--files-only", f"{root}/tree").splitlines()) == sorted(FILES)
    # Sizes, times and sums of both sides are the same, and the bytes.
    run("check", str(folder / "up"), f"{root}/tree")
    run("check", "--download", str(folder / "up"), f"{root}/tree")
    os.utime(folder / "up" / "a.txt", (1_700_000_000, 1_700_000_000))
    (folder / "up" / "deep/empty").unlink()
    run("sync", str(folder / "up"), f"{root}/tree")
    listed = json.loads(run("lsjson", f"{root}/tree/a.txt"))
    assert listed[0]["ModTime"].startswith("2023-11-14T22:13:20"), listed
    run("copy", f"{root}/tree", str(folder / "down"))
    assert tree_of(folder / "down") == tree_of(folder / "up")
    run("copyto", f"{root}/tree/large.bin", f"{root}/second/large copy.bin")
    run("moveto", f"{root}/second/large copy.bin", f"{root}/second/moved.bin")
    run("copy", f"{root}/second", str(folder / "second"))
    assert tree_of(folder / "second") == {"moved.bin": LARGE}
    assert run("cat", "--offset", "1", "--count", "3", f"{root}/tree/a.txt") == "ell"
    assert "tree" in run("lsd", root)
    assert json.loads(run("size", "--json", f"{root}/tree"))["count"] == len(FILES) - 1
    run("purge", root)
    assert run("lsf", root) == ""
    run("mkdir", "t:made-by-rclone")
    assert "made-by-rclone" in run("lsd", "t:")
    run("rmdir", "t:made-by-rclone")


def main(tool, *place):
    with tempfile.TemporaryDirectory() as name:
        {"aws": aws, "s3cmd": s3cmd, "rclone": rclone}[tool](pathlib.Path(name), *place)
    print("all done")


if __name__ == "__main__":
    main(*sys.argv[1:])
