/** What clients ask about the server before they work with it. */

import { json, operation } from "../operation.ts";

/** The version of lakeFS whose API this is: clients compare it with what they need. */
const LAKEFS_VERSION = "1.84.0";

const VERSION_CONFIG = {
  version: LAKEFS_VERSION,
  version_context: "tarn",
  latest_version: LAKEFS_VERSION,
  upgrade_recommended: false,
  upgrade_url: "",
};

const STORAGE_CONFIG = {
  blockstore_type: "local",
  blockstore_namespace_example: "local://example-namespace",
  blockstore_namespace_ValidityRegex: "^local://",
  default_namespace_prefix: "local://",
  pre_sign_support: false,
  pre_sign_support_ui: false,
  import_support: false,
  import_validity_regex: "^local://",
  pre_sign_multipart_upload: false,
  blockstore_id: "",
  blockstore_description: "",
};

/** How long an object that nothing refers to is kept at least; clients write and link within it. */
const GRACE_SECONDS = 24 * 60 * 60;

const getConfig = operation("getConfig", {
  async run() {
    return json(200, {
      version_config: VERSION_CONFIG,
      storage_config: STORAGE_CONFIG,
      storage_config_list: [],
      ui_config: { custom_viewers: [] },
      capabilities_config: {},
    });
  },
});

const getStorageConfig = operation("getStorageConfig", {
  async run() {
    return json(200, STORAGE_CONFIG);
  },
});

const getLakeFSVersion = operation("getLakeFSVersion", {
  async run() {
    return json(200, VERSION_CONFIG);
  },
});

const getGarbageCollectionConfig = operation("getGarbageCollectionConfig", {
  async run() {
    return json(200, { grace_period: GRACE_SECONDS });
  },
});

export const CONFIG_OPERATIONS = [getConfig, getStorageConfig, getLakeFSVersion, getGarbageCollectionConfig];
