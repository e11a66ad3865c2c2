// Writes build/schema.ts, the types of build/openapi.json. What is `binary` in a form is a file.
import { readFileSync, writeFileSync } from "node:fs";
import openapiTS, { astToString } from "openapi-typescript";
import ts from "typescript";

const FILE = ts.factory.createTypeReferenceNode("Blob");

const document = JSON.parse(readFileSync("build/openapi.json", "utf8"));
const types = await openapiTS(document, {
  defaultNonNullable: false, // what has a default need not be sent
  rootTypes: true, // each schema by its own name, as an application imports it
  rootTypesNoSchemaPrefix: true,
  transform: (schema) => (schema.format === "binary" ? FILE : undefined),
});
writeFileSync("build/schema.ts", astToString(types));
