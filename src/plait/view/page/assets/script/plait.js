// Starts pages on a disk: sessions, and the first page of a site.
import { startPage } from "./reading.js";

startPage();
