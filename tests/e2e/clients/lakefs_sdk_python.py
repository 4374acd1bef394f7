"""Each operation that is built, through the generated `lakefs_sdk`: python lakefs_sdk_python.py URL ACCESS_KEY_ID SECRET"""

import sys

import lakefs_sdk
from lakefs_sdk.client import LakeFSClient
from lakefs_sdk.exceptions import ApiException


def expect(status, call):
    try:
        call()
    except ApiException as error:
        assert error.status == status, (error.status, error.body)
        return
    raise AssertionError(f"status {status} was expected")


def connect(host, **credentials):
    return LakeFSClient(lakefs_sdk.Configuration(host=f"{host}/api/v1", **credentials))


def users(host, client, key, secret):
    assert client.auth_api.get_current_user().user.id == "sdk-admin"
    assert client.internal_api.get_setup_state().state == "initialized"
    assert client.health_check_api.health_check() is None
    assert client.config_api.get_config().version_config.version == "1.84.0"
    assert client.internal_api.get_storage_config().blockstore_type == "local"
    login = client.auth_api.login(login_information=lakefs_sdk.LoginInformation(
        access_key_id=key, secret_access_key=secret))
    by_token = connect(host, access_token=login.token)
    assert by_token.auth_api.get_current_user().user.id == "sdk-admin"

    client.auth_api.create_user(user_creation=lakefs_sdk.UserCreation(id="ann@data.example"))
    assert [one.id for one in client.auth_api.list_users().results] == ["ann@data.example", "sdk-admin"]
    made = client.auth_api.create_credentials("ann@data.example")
    ann = connect(host, username=made.access_key_id, password=made.secret_access_key)
    assert ann.auth_api.get_current_user().user.id == "ann@data.example"
    listed = client.auth_api.list_user_credentials("ann@data.example").results
    assert [one.access_key_id for one in listed] == [made.access_key_id]
    client.auth_api.delete_credentials("ann@data.example", made.access_key_id)
    expect(401, lambda: ann.auth_api.get_current_user())
    client.auth_api.delete_user("ann@data.example")
    expect(404, lambda: client.auth_api.get_user("ann@data.example"))
    assert client.auth_api.list_groups().results == []
    expect(501, lambda: client.auth_api.create_group(group_creation=lakefs_sdk.GroupCreation(id="g")))


def objects(client):
    client.repositories_api.create_repository(lakefs_sdk.RepositoryCreation(
        name="sdk-repo", storage_namespace="local://sdk-repo"))
    client.internal_api.set_repository_metadata(
        "sdk-repo", lakefs_sdk.RepositoryMetadataSet(metadata={"team": "lake"}))
    assert client.repositories_api.get_repository_metadata("sdk-repo") == {"team": "lake"}
    api = client.objects_api
    # The generated client sends a form.
    made = api.upload_object("sdk-repo", "main", "dir/form é.bin", content=b"\x00\r\n--x\xff" * 1000)
    assert made.size_bytes == 7000, made
    assert bytes(api.get_object("sdk-repo", "main", "dir/form é.bin")) == b"\x00\r\n--x\xff" * 1000
    assert api.get_object("sdk-repo", "main", "dir/form é.bin", range="bytes=1-3") == b"\r\n-"
    expect(416, lambda: api.get_object("sdk-repo", "main", "dir/form é.bin", range="bytes=7000-"))
    expect(304, lambda: api.get_object("sdk-repo", "main", "dir/form é.bin", if_none_match=f'"{made.checksum}"'))
    expect(412, lambda: api.upload_object("sdk-repo", "main", "dir/form é.bin", content=b"x", if_none_match="*"))
    head = api.head_object_with_http_info("sdk-repo", "main", "dir/form é.bin")
    assert head.headers["Content-Length"] == "7000", head.headers
    assert api.stat_object("sdk-repo", "main", "dir/form é.bin").checksum == made.checksum
    api.get_underlying_properties("sdk-repo", "main", "dir/form é.bin")
    page = api.list_objects("sdk-repo", "main", delimiter="/")
    assert [(one.path, one.path_type) for one in page.results] == [("dir/", "common_prefix")]
    copied = api.copy_object("sdk-repo", "main", "copy", lakefs_sdk.ObjectCopyCreation(src_path="dir/form é.bin"))
    assert copied.size_bytes == 7000
    assert api.delete_objects("sdk-repo", "main", lakefs_sdk.PathList(paths=["copy"])).errors == []
    expect(404, lambda: api.stat_object("sdk-repo", "main", "copy"))


def versions(client):
    commit = client.commits_api.commit("sdk-repo", "main", lakefs_sdk.CommitCreation(
        message="by the SDK", metadata={"k": "v"}))
    assert client.commits_api.get_commit("sdk-repo", commit.id) == commit
    assert client.branches_api.create_branch(
        "sdk-repo", lakefs_sdk.BranchCreation(name="dev", source="main")) == commit.id
    assert client.branches_api.get_branch("sdk-repo", "dev").commit_id == commit.id
    tag = client.tags_api.create_tag("sdk-repo", lakefs_sdk.TagCreation(id="v1", ref="dev"))
    assert client.tags_api.get_tag("sdk-repo", "v1") == tag
    log = client.refs_api.log_commits("sdk-repo", "v1", objects=["dir/form é.bin"])
    assert [one.message for one in log.results] == ["by the SDK"]
    page = client.branches_api.list_branches("sdk-repo", amount=1)
    assert [one.id for one in page.results] == ["dev"] and page.pagination.has_more
    rest = client.branches_api.list_branches("sdk-repo", amount=1, after=page.pagination.next_offset)
    assert [one.id for one in rest.results] == ["main"] and not rest.pagination.has_more
    expect(400, lambda: client.commits_api.commit("sdk-repo", "main", lakefs_sdk.CommitCreation(message="nothing")))
    expect(409, lambda: client.branches_api.create_branch(
        "sdk-repo", lakefs_sdk.BranchCreation(name="dev", source="main")))
    client.repositories_api.delete_repository("sdk-repo")
    expect(404, lambda: client.repositories_api.get_repository("sdk-repo"))


def branch_changes(client):
    branches, refs = client.branches_api, client.refs_api
    client.repositories_api.create_repository(lakefs_sdk.RepositoryCreation(
        name="sdk-branches", storage_namespace="local://sdk-branches"))

    def commit(branch, path, text):
        client.objects_api.upload_object("sdk-branches", branch, path, content=text)
        return client.commits_api.commit("sdk-branches", branch, lakefs_sdk.CommitCreation(message=path))

    base = commit("main", "a", b"1")
    branches.create_branch("sdk-branches", lakefs_sdk.BranchCreation(name="dev", source="main", hidden=True))
    assert [one.id for one in branches.list_branches("sdk-branches").results] == ["main"]
    assert [one.id for one in branches.list_branches("sdk-branches", show_hidden=True).results] == ["dev", "main"]
    theirs = commit("dev", "b", b"22")
    ours = commit("main", "c", b"1")
    found = refs.find_merge_base("sdk-branches", "dev", "main")
    assert (found.source_commit_id, found.destination_commit_id, found.base_commit_id) == (theirs.id, ours.id, base.id)
    diff = refs.diff_refs("sdk-branches", "main", "dev", include_right_stats=True).results
    assert [(one.type, one.path, one.size_bytes) for one in diff] == [("added", "b", 2)]
    assert diff[0].right.content_type == "application/octet-stream", diff
    merge = refs.merge_into_branch("sdk-branches", "dev", "main")
    assert branches.get_branch("sdk-branches", "main").commit_id == merge.reference
    expect(400, lambda: refs.merge_into_branch("sdk-branches", "dev", "main", lakefs_sdk.Merge()))
    empty = refs.merge_into_branch("sdk-branches", "dev", "main", lakefs_sdk.Merge(allow_empty=True))
    assert client.commits_api.get_commit("sdk-branches", empty.reference).parents == [merge.reference, theirs.id]
    revert = lakefs_sdk.RevertCreation(ref=merge.reference, parent_number=0)
    expect(400, lambda: branches.revert_branch("sdk-branches", "main", revert))
    branches.revert_branch("sdk-branches", "main", lakefs_sdk.RevertCreation(
        ref=merge.reference, parent_number=1, commit_overrides=lakefs_sdk.CommitOverrides(message="back")))
    assert client.commits_api.get_commit("sdk-branches", "main").message == "back"
    branches.cherry_pick("sdk-branches", "main", lakefs_sdk.CherryPickCreation(ref="dev"))
    client.objects_api.stat_object("sdk-branches", "main", "b")
    expect(409, lambda: conflicting_merge(client, commit))
    client.experimental_api.hard_reset_branch("sdk-branches", "main", ref=base.id)
    assert branches.get_branch("sdk-branches", "main").commit_id == base.id
    client.objects_api.upload_object("sdk-branches", "main", "d", content=b"1")
    assert [one.path for one in branches.diff_branch("sdk-branches", "main").results] == ["d"]
    expect(400, lambda: client.experimental_api.hard_reset_branch("sdk-branches", "main", ref="dev"))
    branches.reset_branch("sdk-branches", "main", lakefs_sdk.ResetCreation(type="reset"))
    assert branches.diff_branch("sdk-branches", "main").results == []


def conflicting_merge(client, commit):
    commit("main", "both", b"1")
    commit("dev", "both", b"2")
    client.refs_api.merge_into_branch("sdk-branches", "dev", "main")


def settings(client):
    api = client.repositories_api
    rules = api.get_branch_protection_rules_with_http_info("sdk-branches")
    assert rules.data == []
    protect = [lakefs_sdk.BranchProtectionRule(pattern="ma*")]
    api.set_branch_protection_rules("sdk-branches", protect, if_match=rules.headers["ETag"])
    expect(412, lambda: api.set_branch_protection_rules("sdk-branches", [], if_match=rules.headers["ETag"]))
    assert [one.pattern for one in client.internal_api.internal_get_branch_protection_rules("sdk-branches")] == ["ma*"]
    expect(403, lambda: client.objects_api.upload_object("sdk-branches", "main", "x", content=b"x"))
    expect(403, lambda: client.internal_api.upload_object_preflight("sdk-branches", "main", "x"))
    expect(403, lambda: client.commits_api.commit("sdk-branches", "main", lakefs_sdk.CommitCreation(message="m")))
    client.refs_api.merge_into_branch("sdk-branches", "dev", "main", lakefs_sdk.Merge(strategy="source-wins"))
    api.set_branch_protection_rules("sdk-branches", [])
    expect(404, lambda: api.get_gc_rules("sdk-branches"))
    gc = lakefs_sdk.GarbageCollectionRules(default_retention_days=7, branches=[
        lakefs_sdk.GarbageCollectionRule(branch_id="main", retention_days=30)])
    api.set_gc_rules("sdk-branches", gc)
    assert api.get_gc_rules("sdk-branches") == gc
    api.delete_gc_rules("sdk-branches")
    expect(501, lambda: client.internal_api.prepare_garbage_collection_commits("sdk-branches"))


def metadata(client):
    commit = client.commits_api.get_commit("sdk-branches", "main")
    place = client.metadata_api.get_meta_range("sdk-branches", commit.meta_range_id)
    assert place.location.endswith(f"/_lakefs/{commit.meta_range_id}"), place
    content = client.internal_api.get_metadata_object("sdk-branches", commit.meta_range_id, "meta_range")
    assert b"metaranges" in bytes(content)
    expect(404, lambda: client.metadata_api.get_range("sdk-branches", commit.meta_range_id))
    links = client.internal_api.create_symlink_file("sdk-branches", "main")
    assert links.location.endswith("/_lakefs/symlinks/sdk-branches/main"), links
    expect(400, lambda: client.metadata_api.get_range("sdk-branches", "../../../etc/passwd"))


def main(host, key, secret):
    client = connect(host, username=key, password=secret)
    users(host, client, key, secret)
    objects(client)
    versions(client)
    branch_changes(client)
    settings(client)
    metadata(client)
    print("all done")


if __name__ == "__main__":
    main(*sys.argv[1:])
