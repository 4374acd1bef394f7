import { withRepository } from "../../tests/support/test_engine.ts";
import { testStoreMerges } from "../../tests/conformance/store_merge_suite.ts";

testStoreMerges("engine", { open: async () => (await withRepository()).store });
