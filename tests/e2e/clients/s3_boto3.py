"""Real work through boto3: python s3_boto3.py URL ACCESS_KEY_ID SECRET_ACCESS_KEY BUCKET PREFIX"""

import hashlib
import io
import pathlib
import sys
import tempfile
import urllib.error
import urllib.request

import boto3
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import ClientError

MB = 1024 * 1024
ODD_NAMES = ["plain.txt", "a b+c%20d.txt", "Net & <Works>.txt", "ünï/湖.txt", "dots/../x", "double//slash", "dir/", "q?a=b#c"]


def expect(code, call):
    try:
        call()
    except ClientError as error:
        assert error.response["Error"]["Code"] == code, error
        return
    raise AssertionError(f"{code} was expected")


def objects(s3, bucket, prefix):
    for name in ODD_NAMES:
        put = s3.put_object(Bucket=bucket, Key=prefix + name, Body=name.encode(), Metadata={"name": "plain"})
        assert put["ETag"] == f'"{hashlib.md5(name.encode()).hexdigest()}"' and put["ChecksumCRC32"]
    for name in ODD_NAMES:
        got = s3.get_object(Bucket=bucket, Key=prefix + name)
        assert got["Body"].read() == name.encode() and got["Metadata"] == {"name": "plain"}, name
        assert got["ContentLength"] == len(name.encode()) and "ContentEncoding" not in got
    listed = [one["Key"] for one in s3.list_objects_v2(Bucket=bucket, Prefix=prefix)["Contents"]]
    assert listed == sorted((prefix + name for name in ODD_NAMES), key=str.encode), listed
    listed = [one["Key"] for one in s3.list_objects(Bucket=bucket, Prefix=prefix)["Contents"]]
    assert listed == sorted((prefix + name for name in ODD_NAMES), key=str.encode), listed
    folded = s3.list_objects_v2(Bucket=bucket, Prefix=prefix, Delimiter="/")
    assert [one["Prefix"] for one in folded["CommonPrefixes"]] == [
        prefix + name for name in ["dir/", "dots/", "double/", "ünï/"]], folded

    ten = prefix + "ten"
    s3.put_object(Bucket=bucket, Key=ten, Body=b"0123456789", ContentType="text/x-ten", CacheControl="no-cache")
    assert s3.get_object(Bucket=bucket, Key=ten, Range="bytes=2-4")["Body"].read() == b"234"
    head = s3.head_object(Bucket=bucket, Key=ten, ChecksumMode="ENABLED")
    assert (head["ContentType"], head["CacheControl"], head["ContentLength"]) == ("text/x-ten", "no-cache", 10), head
    assert head["ChecksumSHA256"]
    expect("304", lambda: s3.head_object(Bucket=bucket, Key=ten, IfNoneMatch=head["ETag"]))
    expect("PreconditionFailed", lambda: s3.get_object(Bucket=bucket, Key=ten, IfMatch='"other"'))
    expect("PreconditionFailed", lambda: s3.put_object(Bucket=bucket, Key=ten, Body=b"x", IfNoneMatch="*"))
    expect("InvalidRange", lambda: s3.get_object(Bucket=bucket, Key=ten, Range="bytes=10-"))
    expect("NoSuchKey", lambda: s3.get_object(Bucket=bucket, Key=prefix + "none"))
    expect("404", lambda: s3.head_object(Bucket=bucket, Key=prefix + "none"))
    expect("NoSuchBucket", lambda: s3.list_objects_v2(Bucket="no-such-bucket"))
    for algorithm in ["CRC32", "SHA1", "SHA256"]:
        put = s3.put_object(Bucket=bucket, Key=ten, Body=b"0123456789", ChecksumAlgorithm=algorithm)
        assert put[f"Checksum{algorithm}"], put
    expect("BadDigest", lambda: s3.put_object(Bucket=bucket, Key=ten, Body=b"x", ContentMD5="AAAAAAAAAAAAAAAAAAAAAA=="))
    assert s3.get_object_tagging(Bucket=bucket, Key=ten)["TagSet"] == []
    assert s3.get_object_acl(Bucket=bucket, Key=ten)["Grants"][0]["Permission"] == "FULL_CONTROL"

    copied = s3.copy_object(Bucket=bucket, Key=prefix + "copy + copy", CopySource={"Bucket": bucket, "Key": prefix + ODD_NAMES[1]})
    assert copied["CopyObjectResult"]["ETag"], copied
    assert s3.get_object(Bucket=bucket, Key=prefix + "copy + copy")["Body"].read() == ODD_NAMES[1].encode()
    s3.copy_object(Bucket=bucket, Key=ten, CopySource=f"{bucket}/{ten}", MetadataDirective="REPLACE", Metadata={"x": "1"})
    assert s3.head_object(Bucket=bucket, Key=ten)["Metadata"] == {"x": "1"}

    s3.delete_object(Bucket=bucket, Key=ten)
    expect("NoSuchKey", lambda: s3.get_object(Bucket=bucket, Key=ten))
    named = [{"Key": prefix + name} for name in [*ODD_NAMES, "copy + copy", "never"]]
    gone = s3.delete_objects(Bucket=bucket, Delete={"Objects": named})
    assert len(gone["Deleted"]) == len(named) and "Errors" not in gone, gone
    assert "Contents" not in s3.list_objects_v2(Bucket=bucket, Prefix=prefix)


def paging(s3, bucket, prefix):
    names = [f"{prefix}page/{number:03}" for number in range(70)]
    for name in names:
        s3.put_object(Bucket=bucket, Key=name, Body=b"")
    for operation in ["list_objects", "list_objects_v2"]:
        pages = list(s3.get_paginator(operation).paginate(Bucket=bucket, Prefix=f"{prefix}page/", PaginationConfig={"PageSize": 30}))
        assert [len(page["Contents"]) for page in pages] == [30, 30, 10], operation
        assert [one["Key"] for page in pages for one in page["Contents"]] == names
    after = s3.list_objects_v2(Bucket=bucket, Prefix=f"{prefix}page/", StartAfter=names[-2], FetchOwner=True)
    assert [one["Key"] for one in after["Contents"]] == names[-1:] and after["Contents"][0]["Owner"]["ID"]


def transfers(s3, bucket, prefix):
    """What boto3 does with files: in parts, side by side."""
    config = TransferConfig(multipart_threshold=5 * MB, multipart_chunksize=5 * MB, max_concurrency=4)
    content = bytes(range(256)) * (13 * MB // 256) + b"end"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "large").write_bytes(content)
        s3.upload_file(str(folder / "large"), bucket, f"{prefix}large", Config=config, ExtraArgs={"Metadata": {"in": "parts"}})
        head = s3.head_object(Bucket=bucket, Key=f"{prefix}large")
        assert head["ContentLength"] == len(content) and head["Metadata"] == {"in": "parts"}, head
        assert head["ETag"].endswith('-3"'), head
        s3.download_file(bucket, f"{prefix}large", str(folder / "back"), Config=config)
        assert (folder / "back").read_bytes() == content
    s3.copy({"Bucket": bucket, "Key": f"{prefix}large"}, bucket, f"{prefix}large copy", Config=config)
    back = io.BytesIO()
    s3.download_fileobj(bucket, f"{prefix}large copy", back, Config=config)
    assert back.getvalue() == content

    upload = s3.create_multipart_upload(Bucket=bucket, Key=f"{prefix}given-up")
    s3.upload_part(Bucket=bucket, Key=f"{prefix}given-up", UploadId=upload["UploadId"], PartNumber=1, Body=b"part")
    assert len(s3.list_parts(Bucket=bucket, Key=f"{prefix}given-up", UploadId=upload["UploadId"])["Parts"]) == 1
    s3.abort_multipart_upload(Bucket=bucket, Key=f"{prefix}given-up", UploadId=upload["UploadId"])
    expect("NoSuchUpload", lambda: s3.list_parts(Bucket=bucket, Key=f"{prefix}given-up", UploadId=upload["UploadId"]))
    expect("NoSuchKey", lambda: s3.get_object(Bucket=bucket, Key=f"{prefix}given-up"))


def presigned(url, credentials, bucket, prefix):
    for version in [None, "s3v4"]:
        # Without being told, boto3 signs links in a way of before 2014.
        config = Config(signature_version=version)
        s3 = boto3.client("s3", endpoint_url=url, region_name="us-east-1", config=config, **credentials)
        by_link(s3, bucket, prefix)


def by_link(s3, bucket, prefix):
    target = {"Bucket": bucket, "Key": f"{prefix}by link + more"}
    put = urllib.request.Request(s3.generate_presigned_url("put_object", Params=target, ExpiresIn=60), data=b"linked", method="PUT")
    put.add_header("content-type", "")
    with urllib.request.urlopen(put) as answer:
        assert answer.status == 200
    shown = {**target, "ResponseContentType": "text/csv"}
    link = s3.generate_presigned_url("get_object", Params=shown, ExpiresIn=60)
    with urllib.request.urlopen(link) as answer:
        assert answer.read() == b"linked" and answer.headers["content-type"] == "text/csv"
    try:
        urllib.request.urlopen(link.replace("more", "less"))
    except urllib.error.HTTPError as error:
        assert error.code == 403, error
    else:
        raise AssertionError("another key's link was taken")


def resources(url, credentials, bucket, prefix):
    """The other face of boto3."""
    resource = boto3.resource("s3", endpoint_url=url, region_name="eu-central-1", **credentials)
    assert bucket in [one.name for one in resource.buckets.all()]
    found = resource.Bucket(bucket).objects.filter(Prefix=prefix)
    assert len(list(found)) > 70
    found.delete()
    assert list(resource.Bucket(bucket).objects.filter(Prefix=prefix)) == []


def buckets(s3):
    s3.create_bucket(Bucket="made-by-boto3", CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
    s3.get_waiter("bucket_exists").wait(Bucket="made-by-boto3")
    expect("BucketAlreadyOwnedByYou", lambda: s3.create_bucket(Bucket="made-by-boto3"))
    assert s3.get_bucket_location(Bucket="made-by-boto3")["LocationConstraint"] is None
    assert "Status" not in s3.get_bucket_versioning(Bucket="made-by-boto3")
    s3.delete_bucket(Bucket="made-by-boto3")
    expect("404", lambda: s3.head_bucket(Bucket="made-by-boto3"))


def main(url, key, secret, bucket, prefix):
    credentials = {"aws_access_key_id": key, "aws_secret_access_key": secret}
    s3 = boto3.client("s3", endpoint_url=url, region_name="us-east-1", **credentials)
    objects(s3, bucket, prefix)
    paging(s3, bucket, prefix)
    transfers(s3, bucket, prefix)
    presigned(url, credentials, bucket, prefix)
    resources(url, credentials, bucket, prefix)
    buckets(s3)
    stranger = boto3.client("s3", endpoint_url=url, aws_access_key_id=key, aws_secret_access_key="not the secret", region_name="x")
    expect("SignatureDoesNotMatch", lambda: stranger.list_buckets())
    s3.put_object(Bucket=bucket, Key=f"{prefix}kept", Body=b"for the next commit")
    print("all done")


if __name__ == "__main__":
    main(*sys.argv[1:])
