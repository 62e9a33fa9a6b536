// Starts pages that are served: sessions and lists, in their frame.
import { startFrame } from "./frame.js";
import { startPage } from "./reading.js";
import { registerStarActions, startStars } from "./stars.js";

registerStarActions();
startPage();
startFrame();
startStars();
