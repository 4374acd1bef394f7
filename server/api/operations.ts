/**
 * Every operation of the lakeFS API: method and path below `/api/v1`, by operation ID. The names in a path are the
 * parameters that a handler gets, so their types come from here. What no file of this folder builds answers 501.
 */

export const OPERATIONS = {
  // internal
  setupCommPrefs: ["POST", "/setup_comm_prefs"],
  getSetupState: ["GET", "/setup_lakefs"],
  setup: ["POST", "/setup_lakefs"],
  getAuthCapabilities: ["GET", "/auth/capabilities"],
  setRepositoryMetadata: ["POST", "/repositories/{repository}/metadata"],
  deleteRepositoryMetadata: ["DELETE", "/repositories/{repository}/metadata"],
  dumpRefs: ["PUT", "/repositories/{repository}/refs/dump"],
  restoreRefs: ["PUT", "/repositories/{repository}/refs/restore"],
  CreateCommitRecord: ["POST", "/repositories/{repository}/commits"],
  uploadObjectPreflight: ["GET", "/repositories/{repository}/branches/{branch}/objects/stage_allowed"],
  stageObject: ["PUT", "/repositories/{repository}/branches/{branch}/objects"],
  createSymlinkFile: ["POST", "/repositories/{repository}/refs/{branch}/symlink"],
  getMetadataObject: ["GET", "/repositories/{repository}/metadata/object/{type}/{object_id}"],
  setGarbageCollectionRulesPreflight: ["GET", "/repositories/{repository}/gc/rules/set_allowed"],
  internalGetGarbageCollectionRules: ["GET", "/repositories/{repository}/gc/rules"],
  internalSetGarbageCollectionRules: ["POST", "/repositories/{repository}/gc/rules"],
  internalDeleteGarbageCollectionRules: ["DELETE", "/repositories/{repository}/gc/rules"],
  prepareGarbageCollectionCommits: ["POST", "/repositories/{repository}/gc/prepare_commits"],
  prepareGarbageCollectionCommitsAsync: ["POST", "/repositories/{repository}/gc/prepare_commits/async"],
  prepareGarbageCollectionCommitsStatus: ["GET", "/repositories/{repository}/gc/prepare_commits/status"],
  prepareGarbageCollectionUncommitted: ["POST", "/repositories/{repository}/gc/prepare_uncommited"],
  createBranchProtectionRulePreflight: ["GET", "/repositories/{repository}/branch_protection/set_allowed"],
  internalGetBranchProtectionRules: ["GET", "/repositories/{repository}/branch_protection"],
  internalCreateBranchProtectionRule: ["POST", "/repositories/{repository}/branch_protection"],
  internalDeleteBranchProtectionRule: ["DELETE", "/repositories/{repository}/branch_protection"],
  getLakeFSVersion: ["GET", "/config/version"],
  getStorageConfig: ["GET", "/config/storage"],
  getGarbageCollectionConfig: ["GET", "/config/garbage-collection"],
  postStatsEvents: ["POST", "/statistics"],
  getUsageReportSummary: ["GET", "/usage-report/summary"],
  // auth
  getCurrentUser: ["GET", "/user"],
  login: ["POST", "/auth/login"],
  listUsers: ["GET", "/auth/users"],
  createUser: ["POST", "/auth/users"],
  getUser: ["GET", "/auth/users/{userId}"],
  deleteUser: ["DELETE", "/auth/users/{userId}"],
  listGroups: ["GET", "/auth/groups"],
  createGroup: ["POST", "/auth/groups"],
  getGroup: ["GET", "/auth/groups/{groupId}"],
  deleteGroup: ["DELETE", "/auth/groups/{groupId}"],
  listPolicies: ["GET", "/auth/policies"],
  createPolicy: ["POST", "/auth/policies"],
  getPolicy: ["GET", "/auth/policies/{policyId}"],
  updatePolicy: ["PUT", "/auth/policies/{policyId}"],
  deletePolicy: ["DELETE", "/auth/policies/{policyId}"],
  listGroupMembers: ["GET", "/auth/groups/{groupId}/members"],
  addGroupMembership: ["PUT", "/auth/groups/{groupId}/members/{userId}"],
  deleteGroupMembership: ["DELETE", "/auth/groups/{groupId}/members/{userId}"],
  listUserCredentials: ["GET", "/auth/users/{userId}/credentials"],
  createCredentials: ["POST", "/auth/users/{userId}/credentials"],
  deleteCredentials: ["DELETE", "/auth/users/{userId}/credentials/{accessKeyId}"],
  getCredentials: ["GET", "/auth/users/{userId}/credentials/{accessKeyId}"],
  listUserGroups: ["GET", "/auth/users/{userId}/groups"],
  listUserPolicies: ["GET", "/auth/users/{userId}/policies"],
  attachPolicyToUser: ["PUT", "/auth/users/{userId}/policies/{policyId}"],
  detachPolicyFromUser: ["DELETE", "/auth/users/{userId}/policies/{policyId}"],
  createUserExternalPrincipal: ["POST", "/auth/users/{userId}/external/principals"],
  deleteUserExternalPrincipal: ["DELETE", "/auth/users/{userId}/external/principals"],
  listUserExternalPrincipals: ["GET", "/auth/users/{userId}/external/principals/ls"],
  getExternalPrincipal: ["GET", "/auth/external/principals"],
  listGroupPolicies: ["GET", "/auth/groups/{groupId}/policies"],
  attachPolicyToGroup: ["PUT", "/auth/groups/{groupId}/policies/{policyId}"],
  detachPolicyFromGroup: ["DELETE", "/auth/groups/{groupId}/policies/{policyId}"],
  setGroupACL: ["POST", "/auth/groups/{groupId}/acl"],
  getGroupACL: ["GET", "/auth/groups/{groupId}/acl"],
  oauthCallback: ["GET", "/oidc/callback"],
  // external
  externalPrincipalLogin: ["POST", "/auth/external/principal/login"],
  // experimental
  stsLogin: ["POST", "/sts/login"],
  hardResetBranch: ["PUT", "/repositories/{repository}/branches/{branch}/hard_reset"],
  createPresignMultipartUpload: ["POST", "/repositories/{repository}/branches/{branch}/staging/pmpu"],
  completePresignMultipartUpload: [
    "PUT",
    "/repositories/{repository}/branches/{branch}/staging/pmpu/{uploadId}",
  ],
  abortPresignMultipartUpload: [
    "DELETE",
    "/repositories/{repository}/branches/{branch}/staging/pmpu/{uploadId}",
  ],
  uploadPart: [
    "PUT",
    "/repositories/{repository}/branches/{branch}/staging/pmpu/{uploadId}/parts/{partNumber}",
  ],
  uploadPartCopy: [
    "PUT",
    "/repositories/{repository}/branches/{branch}/staging/pmpu/{uploadId}/parts/{partNumber}/copy",
  ],
  commitAsync: ["POST", "/repositories/{repository}/branches/{branch}/commits/async"],
  commitAsyncStatus: ["GET", "/repositories/{repository}/branches/{branch}/commits/async/{id}/status"],
  mergeIntoBranchAsync: [
    "POST",
    "/repositories/{repository}/refs/{sourceRef}/merge/{destinationBranch}/async",
  ],
  mergeIntoBranchAsyncStatus: [
    "GET",
    "/repositories/{repository}/refs/{sourceRef}/merge/{destinationBranch}/async/{id}/status",
  ],
  // repositories
  listRepositories: ["GET", "/repositories"],
  createRepository: ["POST", "/repositories"],
  getRepository: ["GET", "/repositories/{repository}"],
  deleteRepository: ["DELETE", "/repositories/{repository}"],
  getRepositoryMetadata: ["GET", "/repositories/{repository}/metadata"],
  getGCRules: ["GET", "/repositories/{repository}/settings/gc_rules"],
  setGCRules: ["PUT", "/repositories/{repository}/settings/gc_rules"],
  deleteGCRules: ["DELETE", "/repositories/{repository}/settings/gc_rules"],
  getBranchProtectionRules: ["GET", "/repositories/{repository}/settings/branch_protection"],
  setBranchProtectionRules: ["PUT", "/repositories/{repository}/settings/branch_protection"],
  dumpSubmit: ["POST", "/repositories/{repository}/dump"],
  dumpStatus: ["GET", "/repositories/{repository}/dump"],
  restoreSubmit: ["POST", "/repositories/{repository}/restore"],
  restoreStatus: ["GET", "/repositories/{repository}/restore"],
  // tags
  listTags: ["GET", "/repositories/{repository}/tags"],
  createTag: ["POST", "/repositories/{repository}/tags"],
  getTag: ["GET", "/repositories/{repository}/tags/{tag}"],
  deleteTag: ["DELETE", "/repositories/{repository}/tags/{tag}"],
  // branches
  listBranches: ["GET", "/repositories/{repository}/branches"],
  createBranch: ["POST", "/repositories/{repository}/branches"],
  getBranch: ["GET", "/repositories/{repository}/branches/{branch}"],
  deleteBranch: ["DELETE", "/repositories/{repository}/branches/{branch}"],
  resetBranch: ["PUT", "/repositories/{repository}/branches/{branch}"],
  revertBranch: ["POST", "/repositories/{repository}/branches/{branch}/revert"],
  cherryPick: ["POST", "/repositories/{repository}/branches/{branch}/cherry-pick"],
  diffBranch: ["GET", "/repositories/{repository}/branches/{branch}/diff"],
  // refs
  logCommits: ["GET", "/repositories/{repository}/refs/{ref}/commits"],
  mergeIntoBranch: ["POST", "/repositories/{repository}/refs/{sourceRef}/merge/{destinationBranch}"],
  findMergeBase: ["GET", "/repositories/{repository}/refs/{sourceRef}/merge/{destinationBranch}"],
  diffRefs: ["GET", "/repositories/{repository}/refs/{leftRef}/diff/{rightRef}"],
  // commits
  commit: ["POST", "/repositories/{repository}/branches/{branch}/commits"],
  getCommit: ["GET", "/repositories/{repository}/commits/{commitId}"],
  // objects
  getObject: ["GET", "/repositories/{repository}/refs/{ref}/objects"],
  headObject: ["HEAD", "/repositories/{repository}/refs/{ref}/objects"],
  uploadObject: ["POST", "/repositories/{repository}/branches/{branch}/objects"],
  deleteObject: ["DELETE", "/repositories/{repository}/branches/{branch}/objects"],
  deleteObjects: ["POST", "/repositories/{repository}/branches/{branch}/objects/delete"],
  copyObject: ["POST", "/repositories/{repository}/branches/{branch}/objects/copy"],
  statObject: ["GET", "/repositories/{repository}/refs/{ref}/objects/stat"],
  updateObjectUserMetadata: [
    "PUT",
    "/repositories/{repository}/branches/{branch}/objects/stat/user_metadata",
  ],
  getUnderlyingProperties: ["GET", "/repositories/{repository}/refs/{ref}/objects/underlyingProperties"],
  listObjects: ["GET", "/repositories/{repository}/refs/{ref}/objects/ls"],
  // staging
  getPhysicalAddress: ["GET", "/repositories/{repository}/branches/{branch}/staging/backing"],
  linkPhysicalAddress: ["PUT", "/repositories/{repository}/branches/{branch}/staging/backing"],
  // import
  importStatus: ["GET", "/repositories/{repository}/branches/{branch}/import"],
  importStart: ["POST", "/repositories/{repository}/branches/{branch}/import"],
  importCancel: ["DELETE", "/repositories/{repository}/branches/{branch}/import"],
  // actions
  listRepositoryRuns: ["GET", "/repositories/{repository}/actions/runs"],
  getRun: ["GET", "/repositories/{repository}/actions/runs/{run_id}"],
  listRunHooks: ["GET", "/repositories/{repository}/actions/runs/{run_id}/hooks"],
  getRunHookOutput: ["GET", "/repositories/{repository}/actions/runs/{run_id}/hooks/{hook_run_id}/output"],
  // metadata
  getMetaRange: ["GET", "/repositories/{repository}/metadata/meta_range/{meta_range}"],
  getRange: ["GET", "/repositories/{repository}/metadata/range/{range}"],
  // pulls
  listPullRequests: ["GET", "/repositories/{repository}/pulls"],
  createPullRequest: ["POST", "/repositories/{repository}/pulls"],
  getPullRequest: ["GET", "/repositories/{repository}/pulls/{pull_request}"],
  updatePullRequest: ["PATCH", "/repositories/{repository}/pulls/{pull_request}"],
  mergePullRequest: ["PUT", "/repositories/{repository}/pulls/{pull_request}/merge"],
  // healthCheck
  healthCheck: ["GET", "/healthcheck"],
  // config
  getConfig: ["GET", "/config"],
} as const satisfies Readonly<Record<string, readonly [Method, `/${string}`]>>;

export type Method = "GET" | "HEAD" | "PUT" | "POST" | "DELETE" | "PATCH";

export type OperationId = keyof typeof OPERATIONS;

/** The parameters in the path of an operation. */
export type PathOf<Id extends OperationId> = ParametersOf<typeof OPERATIONS[Id][1]>;

type ParametersOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [key in Name]: string } & ParametersOf<Rest>
  : unknown;
