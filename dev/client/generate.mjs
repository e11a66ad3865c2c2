// Writes build/schema.ts, the types of build/openapi.json. A `binary` field of a form is a file.
import { readFileSync, writeFileSync } from "node:fs";
import openapiTS, { astToString } from "openapi-typescript";
import ts from "typescript";

const FILE = ts.factory.createTypeReferenceNode("Blob");

const document = JSON.parse(readFileSync("build/openapi.json", "utf8"));
const types = await openapiTS(document, {
  defaultNonNullable: false, // fields with a default are optional
  rootTypes: true, // export each schema under its own name
  rootTypesNoSchemaPrefix: true,
  transform: (schema) => (schema.format === "binary" ? FILE : undefined),
});
writeFileSync("build/schema.ts", astToString(types));
