// Starts pages that are served: sessions and lists, in their frame.
import { startFrame } from "./frame.js";
import { startPage } from "./reading.js";

startPage();
startFrame();
