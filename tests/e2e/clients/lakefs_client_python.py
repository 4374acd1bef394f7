"""The main job through `lakefs_client`, the SDK's forerunner: python lakefs_client_python.py URL ACCESS_KEY_ID SECRET"""

import os
import sys
import tempfile

import lakefs_client
from lakefs_client import models
from lakefs_client.client import LakeFSClient
from lakefs_client.exceptions import ApiException


def expect(status, call):
    try:
        call()
    except ApiException as error:
        assert error.status == status, (error.status, error.body)
        return
    raise AssertionError(f"status {status} was expected")


def server(client):
    assert client.auth_api.get_current_user().user.id == "old-admin"
    assert client.config_api.get_config().storage_config.blockstore_type == "local"
    assert client.internal_api.get_setup_state().state == "initialized"
    client.health_check_api.health_check()
    assert client.auth_api.list_groups().results == []


def objects(client, folder):
    api = client.objects_api
    client.repositories_api.create_repository(models.RepositoryCreation(
        name="old-repo", storage_namespace="local://old-repo", default_branch="main"))

    def upload(branch, path, text):
        file = os.path.join(folder, "upload")
        with open(file, "w") as out:
            out.write(text)
        with open(file, "rb") as content:
            return api.upload_object("old-repo", branch, path, content=content)

    assert upload("main", "dir/a b.txt", "one").size_bytes == 3
    upload("main", "other/a b.txt", "another")
    # It keeps each download in a file, named as the answer says: these may not be one.
    first = api.get_object("old-repo", "main", "dir/a b.txt")
    second = api.get_object("old-repo", "main", "other/a b.txt")
    third = api.get_object("old-repo", "main", "dir/a b.txt")
    assert [first.read(), second.read(), third.read()] == [b"one", b"another", b"one"]
    assert len({first.name, second.name, third.name}) == 3
    for file in (first, second, third):
        file.close()
        os.remove(file.name)
    assert api.stat_object("old-repo", "main", "dir/a b.txt").path == "dir/a b.txt"
    page = api.list_objects("old-repo", "main", delimiter="/")
    assert [(one.path, one.path_type) for one in page.results] == [
        ("dir/", "common_prefix"), ("other/", "common_prefix")]
    expect(404, lambda: api.get_object("old-repo", "main", "none"))
    return upload


def versions(client, upload):
    refs, commits = client.refs_api, client.commits_api
    first = commits.commit("old-repo", "main", models.CommitCreation(message="first", metadata={"k": "v"}))
    expect(400, lambda: commits.commit("old-repo", "main", models.CommitCreation(message="nothing")))
    client.branches_api.create_branch("old-repo", models.BranchCreation(name="dev", source="main"))
    upload("dev", "new", "1")
    assert [one.path for one in client.branches_api.diff_branch("old-repo", "dev").results] == ["new"]
    commits.commit("old-repo", "dev", models.CommitCreation(message="second"))
    assert [(one.type, one.path) for one in refs.diff_refs("old-repo", "main", "dev").results] == [("added", "new")]
    merged = refs.merge_into_branch("old-repo", "dev", "main").reference
    assert commits.get_commit("old-repo", merged).parents[0] == first.id
    assert refs.log_commits("old-repo", "main").results[0].id == merged
    tag = client.tags_api.create_tag("old-repo", models.TagCreation(id="v1", ref="main"))
    assert client.tags_api.get_tag("old-repo", "v1").commit_id == tag.commit_id == merged
    client.branches_api.revert_branch("old-repo", "main", models.RevertCreation(ref="main", parent_number=1))
    expect(404, lambda: client.objects_api.stat_object("old-repo", "main", "new"))
    assert client.actions_api.list_repository_runs("old-repo").results == []
    client.repositories_api.delete_repository("old-repo")


def main(host, key, secret):
    client = LakeFSClient(lakefs_client.Configuration(host=f"{host}/api/v1", username=key, password=secret))
    server(client)
    with tempfile.TemporaryDirectory() as folder:
        versions(client, objects(client, folder))
    print("all done")


if __name__ == "__main__":
    main(*sys.argv[1:])
