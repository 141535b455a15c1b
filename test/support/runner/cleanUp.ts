// Loaded before every test file, so its hook comes after those of the file itself.

import { afterAll } from "vitest";
import { cleanUpFile } from "../afterFile.ts";

afterAll(cleanUpFile);
