import { types as pgTypes, type CustomTypesConfig } from "pg";

/** Times and counts are `bigint`; all of ours fit a JavaScript number. */
export const types: CustomTypesConfig = {
  getTypeParser: (oid, format) =>
    oid === pgTypes.builtins.INT8 ? Number : pgTypes.getTypeParser(oid, format),
};
