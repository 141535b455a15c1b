// vitest loads this file before every test file, so its hook runs after those of the test file.

import { afterAll } from "vitest";
import { cleanUpFile } from "../afterFile.ts";

afterAll(cleanUpFile);
