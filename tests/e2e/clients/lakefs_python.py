"""Real work through the `lakefs` package: python lakefs_python.py URL ACCESS_KEY_ID SECRET_ACCESS_KEY"""

import io
import sys

import lakefs
from lakefs.client import Client
from lakefs.exceptions import (
    BadRequestException,
    ConflictException,
    NotAuthorizedException,
    NotFoundException,
    ObjectExistsException,
    ServerException,
)


def expect(exception, call):
    try:
        call()
    except exception:
        return
    raise AssertionError(f"{exception.__name__} was expected")


def changes(repository):
    """Differences, merges and what else moves a branch."""
    main_branch = repository.branch("main")
    main_branch.object("shared.txt").upload(data="base")
    assert [(one.type, one.path, one.path_type) for one in main_branch.uncommitted()] == [
        ("added", "from-work", "object"), ("added", "shared.txt", "object")]
    base = main_branch.commit("base")
    topic = repository.branch("topic").create(source_reference="main")
    for number in range(150):
        topic.object(f"set/{number % 3}/{number:03}").upload(data=str(number))
    assert len(list(topic.uncommitted())) == 150
    assert len(list(topic.uncommitted(max_amount=20))) == 20
    topic.reset_changes("object", "set/0/000")
    topic.reset_changes("common_prefix", "set/1/")
    assert len(list(topic.uncommitted(prefix="set/"))) == 99
    topic.commit("sets")
    folded = [(one.type, one.path) for one in main_branch.diff(topic, prefix="set/", delimiter="/")]
    assert folded == [("prefix_changed", "set/0/"), ("prefix_changed", "set/2/")], folded
    assert len(list(main_branch.diff("topic"))) == 99
    assert [one.type for one in topic.diff("main", type="two_dot", max_amount=1)] == ["removed"]
    merged = topic.merge_into(main_branch, message="sets", metadata={"by": "python"})
    assert main_branch.get_commit().id == merged and main_branch.get_commit().metadata["by"] == "python"
    expect(BadRequestException, lambda: topic.merge_into("main"))
    expect(NotFoundException, lambda: topic.merge_into("nowhere"))

    main_branch.object("shared.txt").upload(data="ours")
    main_branch.commit("ours")
    topic.object("shared.txt").upload(data="theirs")
    theirs = topic.commit("theirs")
    assert [(one.type, one.path) for one in main_branch.diff(topic)] == [("conflict", "shared.txt")]
    expect(ConflictException, lambda: topic.merge_into("main"))
    expect(ConflictException, lambda: main_branch.cherry_pick(theirs))
    topic.merge_into("main", strategy="source-wins")
    assert main_branch.object("shared.txt").reader(mode="r").read() == "theirs"
    expect(BadRequestException, lambda: main_branch.revert("main"))
    reverted = main_branch.revert("main", parent_number=1)
    assert reverted.message.startswith("Revert ") and reverted.id == main_branch.head.id
    assert main_branch.object("shared.txt").reader(mode="r").read() == "ours"
    picked = repository.branch("other").create(base).cherry_pick("topic")
    assert picked.message == "theirs" and picked.parents == [base.id], picked
    assert [one.message for one in main_branch.log(prefixes=["sha"], first_parent=True)][:2] == [
        reverted.message, "Merge 'topic' into 'main'"]

    with main_branch.transact(commit_message="all or nothing", tag="after-tx") as tx:
        assert tx.id not in [one.id for one in repository.branches()]
        tx.object("tx/1").upload(data="1")
        tx.object("shared.txt").delete()
    assert main_branch.object("tx/1").exists() and not main_branch.object("shared.txt").exists()
    assert repository.tag("after-tx").get_commit().id == main_branch.get_commit().id
    try:
        with main_branch.transact(commit_message="given up") as tx:
            tx.object("tx/2").upload(data="2")
            raise ValueError("given up")
    except ValueError:
        pass
    assert not main_branch.object("tx/2").exists()
    assert len(list(repository.branches(show_hidden=True))) == len(list(repository.branches()))


def samples(client):
    """A repository as the package's guide makes one: below the server's prefix, with sample data."""
    prefix = client.storage_config.default_namespace_prefix
    repository = lakefs.Repository("py-samples", client=client).create(
        storage_namespace=f"{prefix}/py-samples", include_samples=True)
    main_branch = repository.branch("main")
    folded = [one.path for one in main_branch.objects(delimiter="/")]
    assert folded == ["README.md", "data/", "images/", "lakes.parquet"], folded
    assert main_branch.object("lakes.parquet").reader(mode="rb").read(4) == b"PAR1"
    assert main_branch.object("README.md").reader(mode="r").read().startswith("# py-samples")
    assert list(main_branch.uncommitted()) == []
    repository.delete()


def main(host, key, secret):
    client = Client(host=host, username=key, password=secret)
    assert client.version == "1.84.0", client.version
    assert client.storage_config.blockstore_type == "local"
    assert client.storage_config.pre_sign_support is False

    stranger = Client(host=host, username=key, password="not the secret")
    expect(NotAuthorizedException, lambda: list(lakefs.repositories(client=stranger)))

    repository = lakefs.Repository("py-repo", client=client)
    repository.create(storage_namespace="local://py-repo", default_branch="main")
    expect(ConflictException, lambda: repository.create(storage_namespace="local://py-other"))
    again = lakefs.Repository("py-repo", client=client).create(storage_namespace="local://py-repo", exist_ok=True)
    assert again.properties.default_branch == "main"
    assert [one.id for one in lakefs.repositories(client=client)] == ["py-repo"]
    expect(NotFoundException, lambda: lakefs.Repository("nowhere", client=client).properties)

    main_branch = repository.branch("main")
    work = repository.branch("work").create(source_reference="main")
    assert work.get_commit().id == main_branch.get_commit().id
    expect(ConflictException, lambda: repository.branch("work").create(source_reference="main"))
    nested = repository.branch("feature/nested").create(source_reference="main")
    assert nested.get_commit().id == main_branch.get_commit().id
    assert [one.id for one in repository.branches()] == ["feature/nested", "main", "work"]
    assert [one.id for one in repository.branches(prefix="w")] == ["work"]

    text = work.object("a/hello world+1.txt").upload(
        data="hello", content_type="text/plain", metadata={"from": "python"}
    )
    stat = text.stat()
    assert stat.size_bytes == 5 and stat.content_type == "text/plain", stat
    assert stat.metadata == {"from": "python"}, stat.metadata
    assert stat.checksum == "5d41402abc4b2a76b9719d911017c592", stat.checksum
    assert text.reader(mode="r").read() == "hello"
    assert text.exists() and not work.object("a/none").exists()
    expect(NotFoundException, lambda: work.object("a/none").reader().read())

    large = bytes(range(256)) * 20_000
    with work.object("b/large.bin").writer(mode="wb") as writer:
        for at in range(0, len(large), 1_000_000):
            writer.write(large[at:at + 1_000_000])
    with work.object("b/large.bin").reader(mode="rb") as reader:
        assert reader.read() == large
        reader.seek(5)
        assert reader.read(3) == large[5:8]
        reader.seek(-4, io.SEEK_END)
        assert reader.read() == large[-4:]
    with work.object("b/lines.txt").writer(mode="w") as writer:
        writer.write("one\ntwo\nthree")
    assert [line.strip() for line in work.object("b/lines.txt").reader(mode="r")] == ["one", "two", "three"]

    expect(ObjectExistsException, lambda: text.upload(data="other", mode="x"))
    assert text.reader(mode="r").read() == "hello"
    work.object("a/new").upload(data=b"", mode="xb")
    assert work.object("a/new").stat().size_bytes == 0

    for number in range(25):
        work.object(f"many/{number:03}").upload(data=f"number {number}")
    names = [one.path for one in work.objects(prefix="many/", max_amount=7)]
    assert names == [f"many/{number:03}" for number in range(7)], names
    assert len(list(work.objects())) == 29
    folded = [one.path for one in work.objects(delimiter="/")]
    assert folded == ["a/", "b/", "many/"], folded
    after = [one.path for one in work.objects(prefix="many/", after="many/022")]
    assert after == ["many/023", "many/024"], after

    copied = work.object("a/new").copy("main", "from-work")
    assert copied.repo == "py-repo" and copied.ref == "main", copied
    assert main_branch.object("from-work").stat().size_bytes == 0

    commit = work.commit("first work", metadata={"step": "1"})
    assert commit.get_commit().message == "first work" and commit.get_commit().metadata == {"step": "1"}
    assert commit.get_commit().committer == "py-admin"
    expect(ServerException, lambda: work.commit("nothing"))

    work.object("many/000").delete()
    assert work.delete_objects(["many/001", "many/002"]).errors == []
    assert not work.object("many/001").exists()
    second = work.commit("second work")
    assert commit.object("many/001").reader(mode="r").read() == "number 1"
    log = [one.message for one in work.log()]
    assert log == ["second work", "first work", "Repository created"], log
    assert [one.message for one in work.log(max_amount=1)] == ["second work"]
    assert [one.message for one in repository.ref("work~1").log(max_amount=1)] == ["first work"]

    tag = repository.tag("v1").create(commit.id)
    assert tag.get_commit().id == commit.id
    expect(ConflictException, lambda: repository.tag("v1").create("work"))
    assert repository.tag("v1").create("work", exist_ok=True).get_commit().id == commit.id
    assert [one.id for one in repository.tags()] == ["v1"]
    assert tag.object("many/002").reader(mode="r").read() == "number 2"
    assert second.get_commit().parents == [commit.id]
    tag.delete()
    expect(NotFoundException, tag.get_commit)

    changes(repository)
    samples(client)
    nested.delete()
    work.delete()
    expect(NotFoundException, work.get_commit)
    repository.delete()
    expect(NotFoundException, lambda: lakefs.Repository("py-repo", client=client).properties)
    print("all done")


if __name__ == "__main__":
    main(*sys.argv[1:])
