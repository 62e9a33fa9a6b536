// Entry point of pages on disk: sessions, and the start page of a site.
import { startPage } from "./reading.js";

startPage();
